package target;

import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** The beans of each group. What jmxquery cannot stand, what never ends and what is huge have their own. */
final class Beans {
    private static final long STARTED = System.nanoTime();

    private Beans() {}

    static void register(String group, MBeanServer server) throws Exception {
        switch (group) {
            case "values":
                server.registerMBean(Scalars.numbers(), named("Numbers"));
                server.registerMBean(Scalars.texts(), named("Texts"));
                server.registerMBean(Scalars.times(), named("Times"));
                server.registerMBean(Containers.arrays(), named("Arrays"));
                server.registerMBean(Containers.collections(), named("Collections"));
                server.registerMBean(OpenTypes.tables(), named("Tables"));
                server.registerMBean(foreign(), named("Foreign"));
                server.registerMBean(counter(), named("Counter"));
                server.registerMBean(new Mixed(), named("Mixed"));
                for (int i = 1; i <= 3; i++) {
                    server.registerMBean(new Standard(i), named("Standard,name=" + i));
                }
                break;
            case "names":
                for (String name : Names.ODD) {
                    server.registerMBean(Names.oddAttributes(), new ObjectName(name));
                }
                break;
            case "trouble":
                server.registerMBean(Trouble.unreadable(), named("Trouble"));
                server.registerMBean(Trouble.slow(), named("Slow"));
                break;
            case "wrapped":
                server.registerMBean(Wrapped.first(), named("Wrapped,name=1"));
                server.registerMBean(Wrapped.second(), named("Wrapped,name=2"));
                break;
            case "composites":
                server.registerMBean(OpenTypes.composites(), named("Composites"));
                break;
            case "never":
                server.registerMBean(Trouble.never(), named("Never"));
                break;
            case "big":
                server.registerMBean(Containers.big(), named("Big"));
                break;
            default:
                throw new IllegalArgumentException("no group of beans " + group);
        }
    }

    private static Table foreign() {
        return new Table()
            .readable("Machine", Foreign.Machine.class, Foreign.Machine::new)
            .readable("Machines", Object[].class, () -> new Object[] {
                new Foreign.Machine(), new Foreign.Device()
            })
            .readable("Chatty", Foreign.Chatty.class, Foreign.Chatty::new)
            .readable("Loop", Foreign.Loop.class, Foreign.Loop::new)
            .readable("Exception", Throwable.class, () -> new Foreign.Trouble("not thrown"));
    }

    private static Table counter() {
        AtomicLong reads = new AtomicLong();
        return new Table()
            .variable("Value", long.class, 0L)
            .variable("Other", long.class, 0L)
            .variable("Load", double.class, 0.5)
            .variable("Flag", boolean.class, false)
            .variable("Text", String.class, "idle")
            .readable("Reads", long.class, reads::incrementAndGet)
            .readable("Milliseconds", long.class, () -> (System.nanoTime() - STARTED) / 1_000_000);
    }

    private static ObjectName named(String type) throws Exception {
        return new ObjectName("target:type=" + type);
    }
}
