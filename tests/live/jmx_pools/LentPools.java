import com.alibaba.druid.pool.DruidDataSource;
import com.mchange.v2.c3p0.ComboPooledDataSource;
import javax.sql.DataSource;
import org.vibur.dbcp.ViburDBCPDataSource;

/** Pools of 2 connections each, from which as many threads as the argument says take one for ever. */
public class LentPools {
    private static final String URL = "jdbc:h2:mem:tests";

    public static void main(String[] arguments) throws Exception {
        ComboPooledDataSource orders = new ComboPooledDataSource();
        orders.setDataSourceName("orders");
        orders.setDriverClass("org.h2.Driver");
        orders.setJdbcUrl(URL);
        orders.setInitialPoolSize(1);
        orders.setMinPoolSize(1);
        orders.setMaxPoolSize(2);
        DruidDataSource stock = new DruidDataSource();
        stock.setName("stock");
        stock.setUrl(URL);
        stock.setMaxActive(2);
        stock.init();
        ViburDBCPDataSource bills = new ViburDBCPDataSource();
        bills.setName("bills");
        bills.setJdbcUrl(URL);
        bills.setUsername("");
        bills.setPassword("");
        bills.setPoolInitialSize(1);
        bills.setPoolMaxSize(2);
        bills.setConnectionTimeoutInMs(3_600_000);
        bills.start();
        for (DataSource pool : new DataSource[] {orders, stock, bills}) {
            Borrower.hold(pool, Integer.parseInt(arguments[0]));
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
