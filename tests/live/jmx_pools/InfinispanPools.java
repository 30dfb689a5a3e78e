import java.util.concurrent.Executor;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.factories.GlobalComponentRegistry;
import org.infinispan.factories.threads.CoreExecutorFactory;
import org.infinispan.factories.threads.NonBlockingThreadPoolExecutorFactory;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.util.concurrent.BlockingManager;

/**
 * An Infinispan whose pools for what may block, and for what must not, have 2 threads each. They get as many tasks as
 * the first argument says, each of which takes as many milliseconds as the second one says, and is given again when it
 * is done.
 */
public class InfinispanPools {
    public static void main(String[] arguments) throws Exception {
        GlobalConfigurationBuilder global = new GlobalConfigurationBuilder();
        global.nonClusteredDefault().jmx().enable();
        global.blockingThreadPool().threadPoolFactory(CoreExecutorFactory.executorFactory(2, 2, 1000, 60_000, false));
        global.nonBlockingThreadPool().threadPoolFactory(NonBlockingThreadPoolExecutorFactory.create(2, 1000));
        DefaultCacheManager manager = new DefaultCacheManager(global.build());
        BlockingManager blocking = GlobalComponentRegistry.componentOf(manager, BlockingManager.class);
        for (Executor pool : new Executor[] {blocking.asExecutor("orders"), blocking.nonBlockingExecutor()}) {
            pool.execute(() -> { }); // a pool is made for its first task
            for (int task = 0; task < Integer.parseInt(arguments[0]); task++) {
                pool.execute(() -> again(pool, Long.parseLong(arguments[1])));
            }
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void again(Executor pool, long milliseconds) {
        try {
            Thread.sleep(milliseconds);
            pool.execute(() -> again(pool, milliseconds));
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }
}
