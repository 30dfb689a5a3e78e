package target;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** An MXBean: the JVM turns its values into open types. */
public interface MixedMXBean {
    Map<String, Long> getSizes();

    Map<Integer, Point> getPoints();

    List<String> getNames();

    Set<Long> getIds();

    Point getPoint();

    Point[] getPath();

    Point getNoPoint();

    Thread.State getState();

    List<List<Integer>> getMatrix();

    /** Becomes a composite with the items label, x and y. */
    final class Point {
        private final int x;
        private final int y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }

        public int getX() {
            return x;
        }

        public int getY() {
            return y;
        }

        public String getLabel() {
            return x + "/" + y;
        }
    }
}
