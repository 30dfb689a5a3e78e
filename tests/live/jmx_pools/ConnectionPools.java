import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;

/** Pools of 2 connections each, from which as many threads as the argument says take one for ever. */
public class ConnectionPools {
    private static final String URL = "jdbc:h2:mem:tests";

    public static void main(String[] arguments) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(URL);
        config.setMaximumPoolSize(2);
        config.setConnectionTimeout(3_600_000);
        config.setRegisterMbeans(true);
        config.setPoolName("orders");
        BasicDataSource stock = new BasicDataSource();
        stock.setUrl(URL);
        stock.setMaxTotal(2);
        stock.setJmxName("org.apache.commons.dbcp2:type=BasicDataSource,name=stock");
        for (DataSource pool : new DataSource[] {new HikariDataSource(config), stock}) {
            pool.getConnection().close();
            for (int holder = 0; holder < Integer.parseInt(arguments[0]); holder++) {
                hold(pool);
            }
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void hold(DataSource pool) {
        Thread thread = new Thread(() -> {
            try (Connection connection = pool.getConnection()) {
                Thread.sleep(Long.MAX_VALUE);
            } catch (Exception failure) {
                failure.printStackTrace();
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
