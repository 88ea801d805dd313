// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.logging.Logger;

/** Index the departures of a railway by station: Timetable DEPARTURES STATIONS */
public class Timetable {
    private static final Logger LOG = Logger.getLogger("timetable");

    record Departure(String train, String platform, int minute, String remark) {
    }

    public static void main(String[] arguments) {
        int departures = Integer.parseInt(arguments[0]);
        int stations = Integer.parseInt(arguments[1]);
        Runtime runtime = Runtime.getRuntime();
        LOG.info(String.format("heap: max %d MB, total %d MB, free %d MB", runtime.maxMemory() >> 20, runtime.totalMemory() >> 20,
                runtime.freeMemory() >> 20));
        Random random = new Random(6);
        Map<Integer, List<Departure>> index = new HashMap<>();
        for (int number = 0; number < departures; number++) {
            Departure departure = new Departure("RE " + random.nextInt(90000), "platform " + random.nextInt(20), random.nextInt(1440),
                    "runs daily, number " + number);
            index.computeIfAbsent(random.nextInt(stations), station -> new ArrayList<>()).add(departure);
            if (number % 500000 == 0) {
                LOG.info(String.format("%d departures, %d MB in use", number, (runtime.totalMemory() - runtime.freeMemory()) >> 20));
            }
        }
        int busiest = index.values().stream().mapToInt(List::size).max().orElse(0);
        LOG.info("busiest station: " + busiest + " departures");
    }
}
