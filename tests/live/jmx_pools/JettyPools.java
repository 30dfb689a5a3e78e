import com.codahale.metrics.MetricRegistry;
import io.dropwizard.metrics.jetty12.InstrumentedQueuedThreadPool;
import java.lang.management.ManagementFactory;
import org.eclipse.jetty.jmx.MBeanContainer;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * A Jetty of 6 threads, 4 of them for requests, each of which takes a minute; with an argument it has the pool of
 * Dropwizard Metrics. Prints its port.
 */
public class JettyPools {
    public static void main(String[] arguments) throws Exception {
        boolean measured = arguments.length > 0;
        Server server = new Server(
            measured ? new InstrumentedQueuedThreadPool(new MetricRegistry(), 6, 6) : new QueuedThreadPool(6, 6));
        server.addBean(new MBeanContainer(ManagementFactory.getPlatformMBeanServer()));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                Thread.sleep(60_000);
                callback.succeeded();
                return true;
            }
        });
        server.start();
        System.out.println("ready " + connector.getLocalPort());
        server.join();
    }
}
