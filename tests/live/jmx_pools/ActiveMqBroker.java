import java.util.List;
import javax.jms.Connection;
import javax.jms.MessageProducer;
import javax.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.broker.region.policy.PolicyEntry;
import org.apache.activemq.broker.region.policy.PolicyMap;
import org.apache.activemq.broker.region.policy.VMPendingQueueMessageStoragePolicy;

/**
 * A broker whose queues have 64 KiB each. As many producers as the argument says send messages of 1 KiB, which nobody
 * takes, to one of them, until they are blocked.
 */
public class ActiveMqBroker {
    public static void main(String[] arguments) throws Exception {
        PolicyEntry policy = new PolicyEntry();
        policy.setQueue(">");
        policy.setMemoryLimit(64 * 1024);
        policy.setProducerFlowControl(true);
        policy.setPendingQueuePolicy(new VMPendingQueueMessageStoragePolicy());
        PolicyMap policies = new PolicyMap();
        policies.setPolicyEntries(List.of(policy));
        BrokerService broker = new BrokerService();
        broker.setBrokerName("shop");
        broker.setPersistent(false);
        broker.setDestinationPolicy(policies);
        broker.getManagementContext().setCreateConnector(false);
        String url = broker.addConnector("tcp://127.0.0.1:0").getPublishableConnectString();
        broker.start();
        for (int producer = 0; producer < Integer.parseInt(arguments[0]); producer++) {
            Thread thread = new Thread(() -> send(url));
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void send(String url) {
        try (Connection connection = new ActiveMQConnectionFactory(url).createConnection()) {
            connection.start();
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageProducer producer = session.createProducer(session.createQueue("orders"));
            while (true) {
                producer.send(session.createTextMessage("x".repeat(1024)));
            }
        } catch (Exception failure) {
            failure.printStackTrace();
        }
    }
}
