import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
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
            Borrower.hold(pool, Integer.parseInt(arguments[0]));
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
