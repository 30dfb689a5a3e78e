package target;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The one MXBean of ours. */
public final class Mixed implements MixedMXBean {
    @Override
    public Map<String, Long> getSizes() {
        return new TreeMap<>(Map.of("small", 1L, "large", 1L << 40, "with | pipe", 2L));
    }

    @Override
    public Map<Integer, Point> getPoints() {
        return new TreeMap<>(Map.of(1, new Point(1, 10), 2, new Point(2, 20)));
    }

    @Override
    public List<String> getNames() {
        return List.of("one", "two");
    }

    @Override
    public Set<Long> getIds() {
        return new TreeSet<>(Set.of(3L, 1L, 2L));
    }

    @Override
    public Point getPoint() {
        return new Point(3, 4);
    }

    @Override
    public Point[] getPath() {
        return new Point[] {new Point(0, 0), new Point(1, 1)};
    }

    @Override
    public Point getNoPoint() {
        return null;
    }

    @Override
    public Thread.State getState() {
        return Thread.State.TIMED_WAITING;
    }

    @Override
    public List<List<Integer>> getMatrix() {
        return List.of(List.of(1, 2), List.of(3, 4), List.of());
    }
}
