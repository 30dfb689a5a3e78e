package target;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import javax.management.Attribute;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * What a test tells this program: a line of words, each percent-encoded, on a loopback port; the answer is a
 * line, "done" or what is wrong.
 *
 * <pre>
 * register GROUP                          the beans of a group of Beans
 * bean NAME [ATTRIBUTE TYPE VALUE]...     a bean with these attributes, which can be set; replaces one
 * unregister NAME-OR-PATTERN
 * set NAME ATTRIBUTE VALUE
 * many COUNT                              beans target:type=Many,name=0 and so on, all of one class
 * deadlock, release                       two threads that wait for each other; let them go
 * reset                                   the beans of the start again, with their first values, and no deadlock
 * </pre>
 */
final class Control {
    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final Deadlock deadlock = new Deadlock();
    private final Set<ObjectName> ofJava = server.queryNames(null, null);
    private final String[] groups;

    /** With the beans of these groups of Beans. */
    Control(String... groups) throws Exception {
        this.groups = groups;
        reset();
    }

    /** Answers for ever; says on standard output where, when everything is ready. */
    void serve() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            System.out.println("ready, control port " + listener.getLocalPort());
            while (true) {
                answer(listener);
            }
        }
    }

    private void answer(ServerSocket listener) throws IOException {
        try (Socket socket = listener.accept();
                var in = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                var out = new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                try {
                    obey(Arrays.stream(line.split(" ")).map(Control::decoded).toArray(String[]::new));
                    out.println("done");
                } catch (Exception error) {
                    out.println(error.toString().replaceAll("\\s+", " "));
                }
            }
        } catch (IOException gone) {
            System.out.println("control connection lost: " + gone);
        }
    }

    private static String decoded(String word) {
        return URLDecoder.decode(word, StandardCharsets.UTF_8);
    }

    /** Does what the words say. */
    void obey(String... words) throws Exception {
        switch (words[0]) {
            case "register":
                Beans.register(words[1], server);
                break;
            case "bean":
                bean(words);
                break;
            case "unregister":
                for (ObjectName name : server.queryNames(new ObjectName(words[1]), null)) {
                    server.unregisterMBean(name);
                }
                break;
            case "set":
                set(new ObjectName(words[1]), words[2], words[3]);
                break;
            case "many":
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    server.registerMBean(new Standard(i), new ObjectName("target:type=Many,name=" + i));
                }
                break;
            case "deadlock":
                deadlock.enter();
                break;
            case "release":
                deadlock.release();
                break;
            case "reset":
                reset();
                break;
            default:
                throw new IllegalArgumentException("unknown command " + words[0]);
        }
    }

    private void reset() throws Exception {
        deadlock.release();
        for (ObjectName name : server.queryNames(null, null)) {
            if (!ofJava.contains(name)) {
                server.unregisterMBean(name);
            }
        }
        for (String group : groups) {
            Beans.register(group, server);
        }
    }

    private void bean(String[] words) throws Exception {
        Table table = new Table();
        for (int i = 2; i < words.length; i += 3) {
            Class<?> type = type(words[i + 1]);
            table.variable(words[i], type, value(type, words[i + 2]));
        }
        ObjectName name = new ObjectName(words[1]);
        if (server.isRegistered(name)) {
            server.unregisterMBean(name);
        }
        server.registerMBean(table, name);
    }

    private void set(ObjectName name, String attribute, String text) throws Exception {
        for (MBeanAttributeInfo info : server.getMBeanInfo(name).getAttributes()) {
            if (info.getName().equals(attribute)) {
                server.setAttribute(name, new Attribute(attribute, value(type(info.getType()), text)));
                return;
            }
        }
        throw new IllegalArgumentException(name + " has no attribute " + attribute);
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        switch (name) {
            case "boolean":
                return boolean.class;
            case "int":
                return int.class;
            case "long":
                return long.class;
            case "float":
                return float.class;
            case "double":
                return double.class;
            default:
                return Class.forName(name);
        }
    }

    /** The text as a value of that type; what is declared as an Object is a number if it looks like one. */
    private static Object value(Class<?> type, String text) {
        boolean open = type == Object.class;
        if (type == boolean.class) {
            return Boolean.valueOf(text);
        } else if (type == int.class) {
            return Integer.valueOf(text);
        } else if (type == long.class || open && text.matches("-?[0-9]+")) {
            return Long.valueOf(text);
        } else if (type == float.class) {
            return Float.valueOf(text);
        } else if (type == double.class || open && text.matches("-?[0-9]+\\.[0-9]+|NaN")) {
            return Double.valueOf(text);
        }
        return text;
    }
}
