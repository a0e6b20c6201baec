#!/bin/sh
# Goes through every route of the console of elastic-job-lite 2.1.5, as an operator's scripts do.
#
#	URL=http://127.0.0.1:8899 LOGIN=root:root sh console-2.1.5.sh
#
# It expects the registry centre prod with the jobs settle (2 items), report and once (which runs nowhere)
# on the server 10.0.0.1, and the data source past with their history.
set -u
failures=0

# ask METHOD PATH [BODY] puts the status and the answer into $status and $answer.
ask() {
    if [ $# -gt 2 ]; then
        reply=$(curl -s -u "$LOGIN" -X "$1" -H 'Content-Type: application/json' -d "$3" -w '\n%{http_code}' "$URL$2")
    else
        reply=$(curl -s -u "$LOGIN" -X "$1" -w '\n%{http_code}' "$URL$2")
    fi
    status=$(printf '%s\n' "$reply" | tail -n 1)
    answer=$(printf '%s\n' "$reply" | sed '$d')
}

wrong() {
    echo "$1: status $status, answer $answer; expected $2"
    failures=$((failures + 1))
}

# done_by METHOD PATH [BODY]: there is nothing to answer.
done_by() {
    ask "$@"
    [ "$status" = 204 ] && [ -z "$answer" ] || wrong "$1 $2" "204"
}

# is TEXT METHOD PATH [BODY]: the answer is exactly that.
is() {
    expected=$1
    shift
    ask "$@"
    [ "$status" = 200 ] && [ "$answer" = "$expected" ] || wrong "$1 $2" "$expected"
}

# has TEXT METHOD PATH [BODY]: the answer has that somewhere, at least after some seconds.
has() {
    expected=$1
    shift
    tries=0
    while :; do
        ask "$@"
        if [ "$status" = 200 ] && printf '%s' "$answer" | grep -qF -- "$expected"; then
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

# lacks TEXT METHOD PATH: the answer does not have that.
lacks() {
    unexpected=$1
    shift
    ask "$@"
    if [ "$status" != 200 ] || printf '%s' "$answer" | grep -qF -- "$unexpected"; then
        wrong "$1 $2" "no $unexpected"
    fi
}

# Registry centres.
is true POST /api/registry-center '{"name":"spare","zkAddressList":"10.3.0.1:2181","namespace":"spare","digest":"spare:hunter2"}'
has '"name":"spare","zkAddressList":"10.3.0.1:2181","namespace":"spare"' GET /api/registry-center
lacks hunter2 GET /api/registry-center
done_by DELETE /api/registry-center '{"name":"spare"}'
lacks '"name":"spare"' GET /api/registry-center
is true POST /api/registry-center/connect '{"name":"prod"}'
is true GET /api/registry-center/activated

# Data sources.
is true POST /api/data-source '{"name":"spare","driver":"com.mysql.jdbc.Driver","url":"jdbc:mysql://10.4.0.1:3306/spare","username":"spare","password":"hunter3"}'
has '"name":"spare","driver":"com.mysql' GET /api/data-source
lacks hunter3 GET /api/data-source
done_by DELETE /api/data-source '{"name":"spare"}'
is true POST /api/data-source/connectTest '{"name":"","driver":"com.mysql.jdbc.Driver","url":"jdbc:mysql://db:3306/jobs","username":"anna","password":"secret"}'
is false POST /api/data-source/connectTest '{"name":"","driver":"com.mysql.jdbc.Driver","url":"jdbc:mysql://10.4.0.1:3306/jobs","username":"anna","password":"secret"}'
is true POST /api/data-source/connect '{"name":"past"}'
is true GET /api/data-source/activated

# Jobs.
is 3 GET /api/jobs/count
has '"jobName":"settle","status":"OK","description":"Settles' GET /api/jobs
has '"item":1,"serverIp":"10.0.0.1","instanceId":"' GET /api/jobs/settle/sharding
done_by POST /api/jobs/settle/trigger
done_by POST /api/jobs/settle/disable
has '"jobName":"settle","status":"DISABLED"' GET /api/jobs
done_by DELETE /api/jobs/settle/disable
has '"jobName":"settle","status":"OK"' GET /api/jobs
done_by POST /api/jobs/settle/sharding/1/disable
has '"status":"DISABLED"' GET /api/jobs/settle/sharding
done_by DELETE /api/jobs/settle/sharding/1/disable
lacks '"status":"DISABLED"' GET /api/jobs/settle/sharding

# Configurations: what was read is written back, with one change, as its page does.
ask GET /api/jobs/config/settle
settings=$answer
printf '%s' "$settings" | grep -qF '"failover":true' || wrong 'GET /api/jobs/config/settle' '"failover":true'
done_by PUT /api/jobs/config "$(printf '%s' "$settings" | sed 's/"failover":true/"failover":false/')"
has '"failover":false' GET /api/jobs/config/settle
has '"jobParameter":"","monitorExecution":true' GET /api/jobs/config/settle
done_by DELETE /api/jobs/config/once
is 2 GET /api/jobs/count

# Servers.
is 1 GET /api/servers/count
has '"serverIp":"10.0.0.1","instances":["10.0.0.1@-@' GET /api/servers
has '"jobNames":["report","settle"],"instancesNum":2,"jobsNum":2,"disabledJobsNum":0' GET /api/servers
is '[{"jobName":"report","status":"OK","instanceCount":1,"shardingTotalCount":0},{"jobName":"settle","status":"OK","instanceCount":1,"shardingTotalCount":0}]' GET /api/servers/10.0.0.1/jobs
done_by POST /api/servers/10.0.0.1/disable
has '"disabledJobsNum":2' GET /api/servers
done_by DELETE /api/servers/10.0.0.1/disable
has '"disabledJobsNum":0' GET /api/servers
done_by POST /api/servers/10.0.0.1/jobs/report/disable
has '"jobName":"report","status":"DISABLED"' GET /api/servers/10.0.0.1/jobs
done_by DELETE /api/servers/10.0.0.1/jobs/report/disable
has '"jobName":"report","status":"OK"' GET /api/servers/10.0.0.1/jobs
done_by POST /api/servers/10.0.0.1/jobs/report/shutdown
has '"jobName":"report","status":"OK","instanceCount":0' GET /api/servers/10.0.0.1/jobs
done_by DELETE /api/servers/10.0.0.1/jobs/report
lacks report GET /api/servers/10.0.0.1/jobs
done_by POST /api/jobs/settle/shutdown
has '"jobName":"settle","status":"CRASHED"' GET /api/jobs
done_by POST /api/servers/10.0.0.1/shutdown
done_by DELETE /api/servers/10.0.0.1
is 0 GET /api/servers/count

# History.
has '"total":12,"rows":[{"id":"task-0"' GET '/api/event-trace/execution?per_page=10&page=1&sort=startTime&order=asc&jobName=settle&startTime=2026-01-01%2000:00:00&endTime=2026-01-02%2000:00:00&ip=10.0.0.1&isSuccess=1'
has '"success":false,"failureCause":{"plainText":"no ' GET '/api/event-trace/execution?isSuccess=0&jobName=report'
has '"total":1,"rows":' GET '/api/event-trace/status?per_page=10&page=1&jobName=report&source=LITE_EXECUTOR&executionType=READY&state=TASK_ERROR'

# Who is not known gets nothing.
LOGIN=root:wrong
ask GET /api/jobs
[ "$status" = 401 ] || wrong 'GET /api/jobs' 401

[ $failures -eq 0 ] || exit 1
