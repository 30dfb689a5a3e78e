import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jboss.threads.EnhancedQueueExecutor;

/**
 * An application with a pool of 4 connections to the database of the first argument, and one of 2 threads. It does what
 * is told to it on the port that it prints: "work THREADS HELD PAUSE" (milliseconds), "leak THREADS",
 * "tasks NUMBER MILLISECONDS" (for the threads, each again when it is done), "deadlock THREADS",
 * "garbage LIVE RATE" (MiB, MiB per second), "stop" (all work).
 */
public class Application {
    private static final int PIECE = 64 * 1024;
    private static final int SMALL = 64;
    private static final List<Thread> WORK = new ArrayList<>();
    private static final List<Object[]> LIVE = new ArrayList<>();
    private static final EnhancedQueueExecutor THREADS = new EnhancedQueueExecutor.Builder()
        .setCorePoolSize(2).setMaximumPoolSize(2).setRegisterMBean(true).setMBeanName("bills").build();
    private static HikariDataSource pool;

    private interface Task {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(arguments[0]);
        config.setMaximumPoolSize(4);
        config.setRegisterMbeans(true);
        config.setPoolName("orders");
        pool = new HikariDataSource(config);
        try (ServerSocket control = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.1"))) {
            System.out.println("ready " + control.getLocalPort());
            while (true) {
                try (Socket client = control.accept()) {
                    String line = new BufferedReader(new InputStreamReader(client.getInputStream())).readLine();
                    obey(line.trim().split(" "));
                    client.getOutputStream().write("done\n".getBytes());
                } catch (IOException left) {
                    left.printStackTrace();
                }
            }
        }
    }

    private static void obey(String[] words) {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "work":
                start(number, () -> again(Long.parseLong(words[2]), Long.parseLong(words[3])));
                break;
            case "leak":
                start(number, () -> again(Long.MAX_VALUE, 0));
                break;
            case "tasks":
                for (int task = 0; task < number; task++) {
                    THREADS.execute(() -> task(Long.parseLong(words[2])));
                }
                break;
            case "deadlock":
                deadlock(number);
                break;
            case "garbage":
                start(1, () -> garbage(number, Integer.parseInt(words[2])));
                break;
            default:
                WORK.forEach(Thread::interrupt);
                WORK.clear();
                LIVE.clear();
        }
    }

    private static void start(int threads, Task task) {
        for (int number = 0; number < threads; number++) {
            Thread thread = new Thread(() -> {
                try {
                    task.run();
                } catch (Exception end) {
                    System.out.println(end);
                }
            });
            thread.setDaemon(true);
            WORK.add(thread);
            thread.start();
        }
    }

    /** Takes a connection, asks something, keeps it for a while, and pauses, until it is interrupted. */
    private static void again(long held, long pause) throws InterruptedException {
        while (!Thread.currentThread().isInterrupted()) {
            try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
                statement.execute("SELECT 1");
                Thread.sleep(held);
            } catch (java.sql.SQLException failure) {
                Thread.sleep(10);
            }
            Thread.sleep(pause);
        }
    }

    private static void task(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
            THREADS.execute(() -> task(milliseconds));
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    /** A ring of threads, each of which holds a lock that the one before wants. */
    private static void deadlock(int threads) {
        ReentrantLock[] locks = new ReentrantLock[threads];
        CountDownLatch held = new CountDownLatch(threads);
        for (int number = 0; number < threads; number++) {
            locks[number] = new ReentrantLock();
        }
        for (int number = 0; number < threads; number++) {
            int own = number;
            start(1, () -> {
                locks[own].lock();
                held.countDown();
                held.await();
                locks[(own + 1) % threads].lockInterruptibly();
            });
        }
    }

    /** Objects as small as most are: collectors look at each of them, and move them one by one. */
    private static Object[] inSmallPieces(int bytes) {
        Object[] pieces = new Object[bytes / (SMALL + 4)]; // with a reference to each
        for (int piece = 0; piece < pieces.length; piece++) {
            pieces[piece] = new byte[SMALL - 16]; // with its header
        }
        return pieces;
    }

    private static void garbage(int live, int perSecond) throws InterruptedException {
        for (int number = 0; number < live; number++) {
            LIVE.add(inSmallPieces(1 << 20));
        }
        ArrayBlockingQueue<byte[]> last = new ArrayBlockingQueue<>(4);
        while (!Thread.currentThread().isInterrupted()) {
            long begun = System.nanoTime();
            for (int piece = 0; piece < perSecond * 16 / 20; piece++) {
                if (!last.offer(new byte[PIECE])) {
                    last.clear();
                }
            }
            Thread.sleep(Math.max(0, 50 - (System.nanoTime() - begun) / 1_000_000));
        }
    }
}
