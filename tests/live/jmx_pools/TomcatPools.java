import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import javax.naming.InitialContext;
import javax.sql.DataSource;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.core.StandardThreadExecutor;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.AbstractProtocol;
import org.apache.tomcat.util.descriptor.web.ContextResource;

/**
 * A Tomcat with two connectors, one of 2 threads and one with a shared executor of 3, whose only servlet takes a
 * minute. Each of two applications has two pools of 2 connections, from which as many threads as the argument says
 * take one for ever. Prints the ports of the connectors.
 */
public class TomcatPools {
    static int holders;

    public static void main(String[] arguments) throws Exception {
        holders = Integer.parseInt(arguments[0]);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("tomcat");
        tomcat.enableNaming();
        Connector own = connector();
        own.setProperty("maxThreads", "2");
        tomcat.setConnector(own);
        StandardThreadExecutor executor = new StandardThreadExecutor();
        executor.setName("shared");
        executor.setMinSpareThreads(1);
        executor.setMaxThreads(3);
        tomcat.getService().addExecutor(executor);
        Connector sharing = connector();
        ((AbstractProtocol<?>) sharing.getProtocolHandler()).setExecutor(executor);
        tomcat.getService().addConnector(sharing);
        for (String path : new String[] {"/orders", "/stock"}) {
            StandardContext application = (StandardContext) tomcat.addContext(path, null);
            Tomcat.addServlet(application, "slow", new Slow());
            application.addServletMappingDecoded("/", "slow");
            application.getNamingResources().addResource(pool("jdbc/dbcp", null));
            String factory = "org.apache.tomcat.jdbc.pool.DataSourceFactory";
            application.getNamingResources().addResource(pool("jdbc/tomcat", factory));
            application.addApplicationListener("TomcatPools$Holder");
        }
        tomcat.start();
        System.out.println("ready " + own.getLocalPort() + " " + sharing.getLocalPort());
        tomcat.getServer().await();
    }

    private static Connector connector() {
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        return connector;
    }

    private static ContextResource pool(String name, String factory) {
        ContextResource resource = new ContextResource();
        resource.setName(name);
        resource.setType("javax.sql.DataSource");
        resource.setAuth("Container");
        resource.setProperty("url", "jdbc:h2:mem:tests");
        resource.setProperty("driverClassName", "org.h2.Driver");
        resource.setProperty(factory == null ? "maxTotal" : "maxActive", "2");
        if (factory != null) {
            resource.setProperty("factory", factory);
        }
        return resource;
    }

    public static class Slow extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) {
            sleep(60);
        }
    }

    public static class Holder implements ServletContextListener {
        @Override
        public void contextInitialized(ServletContextEvent event) {
            try {
                for (String name : new String[] {"jdbc/dbcp", "jdbc/tomcat"}) {
                    DataSource pool = (DataSource) new InitialContext().lookup("java:comp/env/" + name);
                    Borrower.hold(pool, holders);
                }
            } catch (Exception failure) {
                throw new IllegalStateException(failure);
            }
        }
    }

    private static void sleep(int seconds) {
        try {
            Thread.sleep(seconds * 1000L);
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }
}
