import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.quartz.CronExpression;

/** Asks Quartz for the fire times of the expressions in a file; see README.md. */
public class Generate {
    static final int TIMES = 40;

    /** Each zone with two wall clock times to start from. */
    static final String[][] STARTS = {
        // Year end; the 28th of February of a leap year.
        {"UTC", "2027-12-31T23:58:30", "2028-02-28T23:58:30"},
        // Month end; year end.
        {"Asia/Shanghai", "2027-04-30T23:58:30", "2027-12-31T23:58:30"},
        // The 28th of February of a leap year and of another year.
        {"Asia/Kolkata", "2028-02-28T23:58:30", "2027-02-28T23:58:30"},
        // Before clocks are put forward at 02:00; before the hour that comes twice.
        {"America/New_York", "2027-03-14T01:58:30", "2027-11-07T00:58:30"},
        // The same, with half an hour that is skipped or comes twice.
        {"Australia/Lord_Howe", "2027-10-03T01:58:30", "2027-04-04T01:28:30"},
    };

    public static void main(String[] args) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String line : Files.readAllLines(Path.of(args[0]), StandardCharsets.UTF_8)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            out.append('[').append(line).append("]\n");
            final CronExpression cron;
            try {
                cron = new CronExpression(line);
            } catch (ParseException e) {
                out.append("error\n");
                continue;
            }
            Future<String> times = worker().submit(() -> fireTimes(cron));
            try {
                out.append(times.get(10, TimeUnit.SECONDS));
            } catch (TimeoutException e) {
                out.append("endless\n");
            } catch (ExecutionException e) {
                out.append("exception\n");
            }
        }
        System.out.print(out);
    }

    /** One for each expression, because one that searches without end cannot be stopped. */
    static ExecutorService worker() {
        return Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
    }

    static String fireTimes(CronExpression cron) {
        StringBuilder out = new StringBuilder();
        for (String[] zone : STARTS) {
            for (int i = 1; i < zone.length; i++) {
                out.append(fireTimes(cron, zone[0], zone[i])).append('\n');
            }
        }
        return out.toString();
    }

    /** The zone, the start, and the seconds from one time to the next, as n or count*n. */
    static String fireTimes(CronExpression cron, String zone, String start) {
        ZoneId id = ZoneId.of(zone);
        cron.setTimeZone(TimeZone.getTimeZone(id));
        Instant at = LocalDateTime.parse(start).atZone(id).toInstant();
        // Quartz goes on for a hundred years from now; Go stops at the end of 2099.
        Instant end = LocalDateTime.of(2100, 1, 1, 0, 0).atZone(id).toInstant();

        List<Long> steps = new ArrayList<>();
        while (steps.size() < TIMES) {
            Date next = cron.getNextValidTimeAfter(Date.from(at));
            if (next == null || !next.toInstant().isBefore(end)) {
                break;
            }
            steps.add(next.toInstant().getEpochSecond() - at.getEpochSecond());
            at = next.toInstant();
        }

        StringBuilder line = new StringBuilder(zone + " " + start);
        for (int i = 0; i < steps.size(); ) {
            int same = i + 1;
            while (same < steps.size() && steps.get(same).equals(steps.get(i))) {
                same++;
            }
            line.append(' ');
            if (same - i > 1) {
                line.append(same - i).append('*');
            }
            line.append(steps.get(i));
            i = same;
        }
        return line.toString();
    }
}
