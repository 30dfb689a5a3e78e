package target;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;

/** Classes that no client has. */
final class Foreign {
    private Foreign() {}

    /** Its text is not its name. */
    enum Colour {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "green, in words";
            }
        }
    }

    /** Writes its fields in its own way. */
    static class Terse implements Serializable {
        private static final long serialVersionUID = 1;
        final int count = 3;
        final String label = "terse";

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.writeShort(1);
            out.writeObject(label);
        }
    }

    /** Writes one object for two, and a number. */
    static class Laconic implements Serializable {
        private static final long serialVersionUID = 1;
        final String first = "first";
        final String second = "second";

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.writeObject(first);
            out.writeInt(2);
        }
    }

    /** What every machine has. */
    static class Device implements Serializable {
        private static final long serialVersionUID = 1;
        final String label = "inherited";
        final int count = 42;
    }

    /** A class with a parent, fields of many types and an object within. */
    static final class Machine extends Device {
        private static final long serialVersionUID = 2;
        final double load = 0.5;
        final boolean running = true;
        final char grade = 'A';
        final byte[] bytes = {1, -1};
        final Colour colour = Colour.GREEN;
        final String nothing = null;
        final Device part = new Device();
        final List<Long> sizes = List.of(1L, 2L);
    }

    /** Writes more than its fields. */
    static final class Chatty implements Serializable {
        private static final long serialVersionUID = 3;
        final int fields = 1;

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(7);
            out.writeUTF("more");
            out.writeObject(List.of("and more"));
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
        }
    }

    /** Refers to itself. */
    static final class Loop implements Serializable {
        private static final long serialVersionUID = 4;
        final Loop itself = this;
        final String name = "loop";
    }

    /** Only its own class knows where it ends in the stream. */
    public static final class Sealed implements Externalizable {
        private static final long serialVersionUID = 5;

        /** For the one who reads it. */
        public Sealed() {}

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(7);
            out.writeUTF("only the class knows");
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException {
            in.readInt();
            in.readUTF();
        }
    }

    /** Cannot leave this program. */
    static final class Opaque {}

    /** A checked exception that only this program has. */
    static final class Trouble extends Exception {
        private static final long serialVersionUID = 6;
        final int code = 17;

        Trouble(String message) {
            super(message);
        }
    }

    /** An exception that cannot leave this program. */
    static final class StuckTrouble extends RuntimeException {
        private static final long serialVersionUID = 7;
        final Object opaque = new Opaque();

        StuckTrouble(String message) {
            super(message);
        }
    }
}
