import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import io.undertow.Undertow;
import io.undertow.server.handlers.BlockingHandler;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.builder.ThreadPoolProfileBuilder;
import org.jboss.threads.EnhancedQueueExecutor;

/**
 * Pools of 2 threads of jboss.threads, Camel and Hazelcast, and an Undertow with 2 worker threads, whose requests take
 * a minute. Each pool has as many tasks behind it as the third argument says, and gets as many as the first one says,
 * each of which takes as many milliseconds as the second one says, and is given again when it is done. Prints the port
 * of the Undertow.
 */
public class TaskPools {
    public static void main(String[] arguments) throws Exception {
        int tasks = Integer.parseInt(arguments[0]);
        long milliseconds = Long.parseLong(arguments[1]);
        EnhancedQueueExecutor orders = new EnhancedQueueExecutor.Builder()
            .setCorePoolSize(2).setMaximumPoolSize(2).setRegisterMBean(true).setMBeanName("orders").build();
        DefaultCamelContext camel = new DefaultCamelContext();
        camel.init();
        Executor stock = camel.getExecutorServiceManager().newThreadPool("stock", "stock",
            new ThreadPoolProfileBuilder("stock").poolSize(2).maxPoolSize(4).maxQueueSize(1000).build());
        camel.start();
        Config config = new Config();
        config.setProperty("hazelcast.jmx", "true").setProperty("hazelcast.phone.home.enabled", "false");
        config.getJetConfig().setEnabled(false);
        config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        config.getNetworkConfig().setPort(0);
        config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
        config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
        config.getExecutorConfig("bills").setPoolSize(2);
        HazelcastInstance hazelcast = Hazelcast.newHazelcastInstance(config);
        for (Executor pool : new Executor[] {orders, stock, hazelcast.getExecutorService("bills")}) {
            for (int task = 0; task < Integer.parseInt(arguments[2]); task++) {
                pool.execute(new Task(0, pool));
            }
            for (int task = 0; task < tasks; task++) {
                pool.execute(new Task(milliseconds, pool));
            }
        }
        Undertow undertow = Undertow.builder()
            .addHttpListener(0, "127.0.0.1").setIoThreads(1).setWorkerThreads(2)
            .setHandler(new BlockingHandler(exchange -> Thread.sleep(60_000))).build();
        undertow.start();
        InetSocketAddress address = (InetSocketAddress) undertow.getListenerInfo().get(0).getAddress();
        System.out.println("ready " + address.getPort());
        Thread.sleep(Long.MAX_VALUE);
    }

    private static class Task implements Runnable, Serializable {
        private static final java.util.Map<Integer, Executor> POOLS = new java.util.concurrent.ConcurrentHashMap<>();
        private final long milliseconds;
        private final int pool;

        Task(long milliseconds, Executor pool) {
            this.milliseconds = milliseconds;
            this.pool = System.identityHashCode(pool);
            POOLS.put(this.pool, pool);
        }

        @Override
        public void run() {
            try {
                Thread.sleep(milliseconds);
                if (milliseconds > 0) {
                    POOLS.get(pool).execute(this);
                }
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
