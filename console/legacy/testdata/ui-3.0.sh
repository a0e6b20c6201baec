#!/bin/sh
# Goes through every route of shardingsphere-elasticjob-ui 3.0.x.
#
#	URL=http://127.0.0.1:8088 LOGIN=root:root sh ui-3.0.sh
#
# It expects what console-2.1.5.sh does.
set -u
failures=0

# ask METHOD PATH [BODY] puts the answer into $answer.
ask() {
    if [ $# -gt 2 ]; then
        answer=$(curl -s -X "$1" -H "Access-Token: $token" -H 'Content-Type: application/json' -d "$3" "$URL$2")
    else
        answer=$(curl -s -X "$1" -H "Access-Token: $token" "$URL$2")
    fi
}

wrong() {
    echo "$1: answer $answer; expected $2"
    failures=$((failures + 1))
}

# is MODEL METHOD PATH [BODY]: the model is exactly that.
is() {
    expected="{\"success\":true,\"errorCode\":0,\"errorMsg\":null,\"model\":$1}"
    shift
    ask "$@"
    [ "$answer" = "$expected" ] || wrong "$1 $2" "$expected"
}

# bare TEXT METHOD PATH: the answer is exactly that, without an envelope.
bare() {
    expected=$1
    shift
    ask "$@"
    [ "$answer" = "$expected" ] || wrong "$1 $2" "$expected"
}

# has TEXT METHOD PATH [BODY]: it succeeds, and has that somewhere, at least after some seconds.
has() {
    expected=$1
    shift
    tries=0
    while :; do
        ask "$@"
        if printf '%s' "$answer" | grep -qF '{"success":true,' && printf '%s' "$answer" | grep -qF -- "$expected"; then
            return
        fi
        tries=$((tries + 1))
        if [ $tries -ge 50 ]; then
            wrong "$1 $2" "$expected"
            return
        fi
        sleep 0.1
    done
}

# fails CODE METHOD PATH [BODY]
fails() {
    expected="{\"success\":false,\"errorCode\":$1,"
    shift
    ask "$@"
    printf '%s' "$answer" | grep -qF -- "$expected" || wrong "$1 $2" "$expected"
}

# The log-in.
token=none
fails 403 GET /api/registry-center/load
answer=$(curl -s -X POST -H 'Content-Type: application/json' -d "{\"username\":\"${LOGIN%%:*}\",\"password\":\"${LOGIN#*:}\"}" "$URL/api/login")
token=$(printf '%s' "$answer" | sed -n 's/.*"accessToken":"\([^"]*\)".*/\1/p')
[ -n "$token" ] || wrong 'POST /api/login' 'an accessToken'

# Registry centres.
is true POST /api/registry-center/add '{"name":"spare","zkAddressList":"10.3.0.1:2181","namespace":"spare","digest":"spare:hunter2"}'
has '{"name":"spare","zkAddressList":"10.3.0.1:2181","namespace":"spare","digest":null,"activated":false}' GET /api/registry-center/load
is null DELETE /api/registry-center '{"name":"spare"}'
is true POST /api/registry-center/connect '{"name":"prod"}'
has '"model":{"name":"prod"' GET /api/registry-center/activated

# Data sources.
has '"org.postgresql.Driver"' GET /api/data-source/drivers
is true POST /api/data-source/add '{"name":"spare","driver":"org.postgresql.Driver","url":"jdbc:postgresql://10.4.0.1:5432/spare","username":"spare","password":"hunter3"}'
has '{"name":"spare","driver":"org.postgresql.Driver","url":null,"username":"spare","password":null,"activated":false}' GET /api/data-source/load
is null DELETE /api/data-source '{"name":"spare"}'
is true POST /api/data-source/connectTest '{"driver":"com.mysql.cj.jdbc.Driver","url":"jdbc:mysql://db:3306/jobs","username":"anna","password":"secret"}'
fails 400 POST /api/data-source/connectTest '{"driver":"org.h2.Driver","url":"jdbc:h2:mem:"}'
is true POST /api/data-source/connect '{"name":"past"}'
bare true GET /api/data-source/activated

# Jobs.
bare 3 GET /api/jobs/count
has '"jobName":"settle","status":"OK"' GET /api/jobs/getAllJobsBriefInfo
has '"item":1,"serverIp":"10.0.0.1","instanceId":"10.0.0.1@-@' GET /api/jobs/settle/sharding
is true POST /api/jobs/settle/trigger
is true POST /api/jobs/settle/disable
has '"jobName":"settle","status":"DISABLED"' GET /api/jobs/getAllJobsBriefInfo
is true POST /api/jobs/settle/enable
has '"jobName":"settle","status":"OK"' GET /api/jobs/getAllJobsBriefInfo
is true POST /api/jobs/settle/sharding/1/disable
has '"status":"DISABLED"' GET /api/jobs/settle/sharding
is true POST /api/jobs/settle/sharding/1/enable
ask GET /api/jobs/config/settle
settings=$(printf '%s' "$answer" | sed 's/.*"model"://; s/}$//; s/"failover":true/"failover":false/')
is true PUT /api/jobs/config "$settings"
has '"failover":false' GET /api/jobs/config/settle
is true DELETE /api/jobs/config/once

# Servers.
bare 1 GET /api/servers/count
has '"jobNames":["report","settle"]' GET /api/servers/getAllServersBriefInfo
is true POST /api/servers/10.0.0.1/disable
has '"jobName":"report","status":"DISABLED"' GET /api/servers/10.0.0.1/jobs
is true POST /api/servers/10.0.0.1/enable
is true POST /api/servers/10.0.0.1/jobs/report/disable
is true POST /api/servers/10.0.0.1/jobs/report/enable
has '"jobName":"report","status":"OK"' GET /api/servers/10.0.0.1/jobs
has '/settle/config | ' POST /api/servers/10.0.0.1/9888/jobs/settle/dump
is true POST /api/servers/10.0.0.1/jobs/report/shutdown
is true DELETE /api/servers/10.0.0.1/jobs/report
is true POST /api/jobs/settle/shutdown
is true POST /api/servers/10.0.0.1/shutdown
is true DELETE /api/servers/10.0.0.1
bare 0 GET /api/servers/count

# History.
has '"total":12,"rows":[{"id":"task-0"' POST /api/event-trace/execution '{"pageSize":10,"pageNumber":1,"sort":"startTime","order":"ASC","jobName":"settle"}'
is '["report","settle"]' GET /api/event-trace/execution/jobNames
is '["report"]' GET /api/event-trace/execution/jobNames/rep
is '["10.0.0.1","10.0.0.2"]' GET /api/event-trace/execution/ip
is '["10.0.0.2"]' GET /api/event-trace/execution/ip/10.0.0.2
has '"total":1,"rows":' POST /api/event-trace/status '{"jobName":"report","state":"TASK_ERROR"}'
is '["report","settle"]' GET /api/event-trace/status/jobNames
is '["settle"]' GET /api/event-trace/status/jobNames/se

[ $failures -eq 0 ] || exit 1
