import java.lang.management.ManagementFactory;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressFullMessagePolicy;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * An Artemis whose addresses have 64 KiB each and block who sends more. As many producers as the argument says send
 * messages of 1 KiB, which nobody takes, to one of them, until they are blocked.
 */
public class ArtemisBroker {
    private static final String URL = "vm://0";

    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(false).setSecurityEnabled(false).setJMXManagementEnabled(true);
        configuration.setName("shop");
        configuration.addAcceptorConfiguration("within", URL);
        configuration.addAddressSetting("#", new AddressSettings()
            .setMaxSizeBytes(64 * 1024).setAddressFullMessagePolicy(AddressFullMessagePolicy.BLOCK));
        EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
        broker.setConfiguration(configuration).setMbeanServer(ManagementFactory.getPlatformMBeanServer()).start();
        broker.getActiveMQServer().createQueue(
            QueueConfiguration.of("orders").setRoutingType(RoutingType.ANYCAST).setDurable(false));
        for (int producer = 0; producer < Integer.parseInt(arguments[0]); producer++) {
            Thread thread = new Thread(ArtemisBroker::send);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void send() {
        try (ServerLocator locator = ActiveMQClient.createServerLocator(URL);
             ClientSessionFactory factory = locator.createSessionFactory();
             ClientSession session = factory.createSession();
             ClientProducer producer = session.createProducer("orders")) {
            while (true) {
                ClientMessage message = session.createMessage(false);
                message.getBodyBuffer().writeBytes(new byte[1024]);
                producer.send(message);
            }
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }
}
