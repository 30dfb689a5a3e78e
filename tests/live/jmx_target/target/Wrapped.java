package target;

import javax.management.StandardMBean;

/** One class, of which each bean shows another interface. */
public final class Wrapped {
    private Wrapped() {}

    /** What one bean shows. */
    public interface First {
        int getOne();
    }

    /** What another bean shows. */
    public interface Second {
        int getTwo();
    }

    private static final class Both implements First, Second {
        @Override
        public int getOne() {
            return 1;
        }

        @Override
        public int getTwo() {
            return 2;
        }
    }

    static StandardMBean first() {
        return new StandardMBean(new Both(), First.class, false);
    }

    static StandardMBean second() {
        return new StandardMBean(new Both(), Second.class, false);
    }
}
