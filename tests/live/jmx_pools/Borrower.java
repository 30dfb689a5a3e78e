import java.sql.Connection;
import javax.sql.DataSource;

/** Takes a connection of a pool for ever. */
class Borrower {
    /** Let so many threads each take one, after the pool has made its first. */
    static void hold(DataSource pool, int threads) throws Exception {
        pool.getConnection().close();
        for (int number = 0; number < threads; number++) {
            Thread thread = new Thread(() -> hold(pool));
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void hold(DataSource pool) {
        try (Connection connection = pool.getConnection()) {
            Thread.sleep(Long.MAX_VALUE);
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }
}
