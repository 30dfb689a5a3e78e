package target;

import java.io.IOException;
import java.util.Optional;

/** Attributes that cannot be had, or not in time. */
final class Trouble {
    private Trouble() {}

    static Table unreadable() {
        return new Table()
            .readable("Good", int.class, () -> 1)
            .readable("ThrowsRuntime", int.class, () -> {
                throw new IllegalStateException("not now | later\nsecond line");
            })
            .readable("ThrowsWithoutText", int.class, () -> {
                throw new NullPointerException();
            })
            .readable("ThrowsChecked", int.class, () -> {
                throw new Foreign.Trouble("checked trouble");
            })
            .readable("ThrowsWithCause", int.class, () -> {
                throw new IllegalStateException("outer", new IOException("inner"));
            })
            .readable("ThrowsUnsupported", int.class, () -> {
                throw new UnsupportedOperationException("not supported here");
            })
            .readable("ThrowsSecurity", int.class, () -> {
                throw new SecurityException("you may not see this");
            })
            .readable("ThrowsUnserializable", int.class, () -> {
                throw new Foreign.StuckTrouble("this exception cannot leave");
            })
            .readable("StackOverflow", int.class, () -> deeper(0))
            .readable("NoClassDefFound", int.class, () -> {
                throw new NoClassDefFoundError("some/missing/Class");
            })
            .readable("NotSerializable", Object.class, Foreign.Opaque::new)
            .readable("NotSerializableWithin", Object.class, () -> new Object[] {
                1, "two", new Foreign.Opaque()
            })
            .readable("Optional", Optional.class, () -> Optional.of("not serializable either"))
            .readable("Externalizable", Object.class, Foreign.Sealed::new)
            .readable("ExternalizableWithin", Object.class, () -> new Object[] {
                1, new Foreign.Sealed(), "after"
            })
            .readable("OwnFormat", Object.class, Foreign.Terse::new)
            .readable("OwnFormatOfObjects", Object.class, Foreign.Laconic::new)
            .readable("LastGood", String.class, () -> "still here")
            .writeOnly("WriteOnly", String.class);
    }

    static Table slow() {
        return new Table()
            .readable("TwoSeconds", int.class, () -> {
                Thread.sleep(2_000);
                return 2;
            })
            .readable("HalfASecond", int.class, () -> {
                Thread.sleep(500);
                return 1;
            });
    }

    static Table never() {
        return new Table()
            .readable("Value", int.class, Trouble::sleepForEver)
            .readable("One", int.class, () -> 1);
    }

    private static int deeper(int level) {
        return deeper(level + 1) + 1;
    }

    private static Object sleepForEver() throws InterruptedException {
        Thread.sleep(Long.MAX_VALUE);
        return 0;
    }
}
