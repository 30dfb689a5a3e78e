import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;

/**
 * Virtual threads (JDK 24 and later) of which the first pin all carriers for good, as the initializer of their class
 * does not return; as many more as the argument says wait for a carrier. Java 17 compiles it.
 */
public class Pinned {
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private static class First {
        static {
            block();
        }
    }

    private static class Second {
        static {
            block();
        }
    }

    private static void block() {
        try {
            NEVER.await();
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        start.invoke(null, (Runnable) First::new);
        start.invoke(null, (Runnable) Second::new);
        Thread.sleep(500);
        for (int number = 0; number < Integer.parseInt(arguments[0]); number++) {
            start.invoke(null, (Runnable) () -> { });
        }
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
