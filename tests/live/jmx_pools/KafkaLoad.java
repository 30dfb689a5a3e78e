import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Makes topics of one partition on the broker at the first argument, each given as NAME:NODE or NAME:NODE+NODE, and
 * lets as many producers as the second argument says write to the first of them. The broker compresses that topic, in
 * the threads that handle requests.
 */
public class KafkaLoad {
    private static final int RECORD = 500_000;

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", arguments[0]);
        List<NewTopic> topics = Arrays.stream(arguments).skip(2).map(KafkaLoad::topic).collect(Collectors.toList());
        topics.get(0).configs(Map.of("compression.type", "gzip", "retention.bytes", "50000000", "segment.bytes",
            "20000000"));
        try (Admin admin = Admin.create(settings)) {
            admin.createTopics(topics).all().get();
        }
        System.out.println("ready");
        for (int producer = 0; producer < Integer.parseInt(arguments[1]); producer++) {
            new Thread(() -> produce(arguments[0], topics.get(0).name())).start();
        }
        Thread.currentThread().join();
    }

    private static NewTopic topic(String text) {
        String[] parts = text.split(":");
        List<Integer> nodes = Arrays.stream(parts[1].split("\\+")).map(Integer::valueOf).collect(Collectors.toList());
        return new NewTopic(parts[0], Map.of(0, nodes));
    }

    private static void produce(String broker, String topic) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", broker);
        settings.put("acks", "1");
        settings.put("buffer.memory", "8000000");
        settings.put("batch.size", "900000");
        byte[] record = new byte[RECORD];
        Random random = new Random(7);
        for (int place = 0; place < record.length; place++) {
            record[place] = (byte) ('a' + random.nextInt(20));
        }
        try (KafkaProducer<byte[], byte[]> producer =
                 new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            while (true) {
                producer.send(new ProducerRecord<>(topic, record));
            }
        }
    }
}
