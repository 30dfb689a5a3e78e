package target;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import javax.management.ObjectName;

/** Numbers, texts, times and other values of one piece. */
final class Scalars {
    private Scalars() {}

    static Table numbers() {
        return new Table()
            .readable("Byte", byte.class, () -> Byte.MIN_VALUE)
            .readable("Short", short.class, () -> Short.MIN_VALUE)
            .readable("Int", int.class, () -> 42)
            .readable("MinInt", int.class, () -> Integer.MIN_VALUE)
            .readable("MaxInt", int.class, () -> Integer.MAX_VALUE)
            .readable("MinLong", long.class, () -> Long.MIN_VALUE)
            .readable("MaxLong", long.class, () -> Long.MAX_VALUE)
            .readable("Float", float.class, () -> 0.1f)
            .readable("Double", double.class, () -> 0.1)
            .readable("MaxDouble", double.class, () -> Double.MAX_VALUE)
            .readable("MinDouble", double.class, () -> Double.MIN_VALUE)
            .readable("NaN", double.class, () -> Double.NaN)
            .readable("FloatNaN", float.class, () -> Float.NaN)
            .readable("Infinity", double.class, () -> Double.POSITIVE_INFINITY)
            .readable("NegativeInfinity", double.class, () -> Double.NEGATIVE_INFINITY)
            .readable("NegativeZero", double.class, () -> -0.0)
            .readable("True", boolean.class, () -> true)
            .readable("False", boolean.class, () -> false)
            .readable("Char", char.class, () -> 'c')
            .readable("BoxedByte", Byte.class, () -> (byte) -1)
            .readable("BoxedShort", Short.class, () -> (short) -1)
            .readable("BoxedInteger", Integer.class, () -> -1)
            .readable("BoxedLong", Long.class, () -> -1L)
            .readable("BoxedFloat", Float.class, () -> -1.5f)
            .readable("BoxedDouble", Double.class, () -> -1.5)
            .readable("BoxedBoolean", Boolean.class, () -> true)
            .readable("BoxedCharacter", Character.class, () -> 'é')
            .readable("NullInteger", Integer.class, () -> null)
            .readable("Object", Object.class, () -> 7L)
            .readable("BigInteger", BigInteger.class, () -> BigInteger.TWO.pow(70))
            .readable("NegativeBigInteger", BigInteger.class, () -> BigInteger.TWO.pow(70).negate())
            .readable("HugeBigInteger", BigInteger.class, () -> BigInteger.TWO.pow(100_000))
            .readable("BigDecimal", BigDecimal.class, () -> new BigDecimal("-12345.6789"))
            .readable("TinyBigDecimal", BigDecimal.class, () -> BigDecimal.valueOf(1, 2_000_000_000))
            .readable("HugeBigDecimal", BigDecimal.class, () -> BigDecimal.valueOf(1, -2_000_000_000))
            .readable("AtomicInteger", AtomicInteger.class, () -> new AtomicInteger(5))
            .readable("AtomicLong", AtomicLong.class, () -> new AtomicLong(6))
            .readable("AtomicBoolean", AtomicBoolean.class, () -> new AtomicBoolean(true))
            .readable("LongAdder", LongAdder.class, () -> {
                LongAdder adder = new LongAdder();
                adder.add(8);
                return adder;
            })
            .readable("DoubleAdder", DoubleAdder.class, () -> {
                DoubleAdder adder = new DoubleAdder();
                adder.add(0.25);
                return adder;
            });
    }

    static Table texts() {
        return new Table()
            .readable("Plain", String.class, () -> "plain text")
            .readable("Empty", String.class, () -> "")
            .readable("Null", String.class, () -> null)
            .readable("Number", String.class, () -> " 12.5 ")
            .readable("Quotes", String.class, () -> "it's \"quoted\"")
            .readable("Backslash", String.class, () -> "C:\\temp\\new")
            .readable("Newline", String.class, () -> "one\ntwo\r\nthree\ttabbed")
            .readable("Control", String.class, () -> "bell \7 escape \33[31m delete \177")
            .readable("Nul", String.class, () -> "before\0after")
            .readable("Pipe", String.class, () -> "a | b;1;2")
            .readable("Markup", String.class, () -> "<b onclick=\"x\">&amp;</b> 100%")
            .readable("Unicode", String.class, () -> "Zürich 東京")
            .readable("Emoji", String.class, () -> "🐘 elephant")
            .readable("HalfEmoji", String.class, () -> "half \ud83d")
            .readable("Long", String.class, () -> "long".repeat(20_000))
            .readable("StringBuilder", Object.class, () -> new StringBuilder("built"))
            .readable("Enum", TimeUnit.class, () -> TimeUnit.SECONDS)
            .readable("ForeignEnum", Foreign.Colour.class, () -> Foreign.Colour.RED)
            .readable("EnumWithBody", Foreign.Colour.class, () -> Foreign.Colour.GREEN)
            .readable("Class", Class.class, () -> String.class)
            .readable("ArrayClass", Class.class, () -> long[][].class)
            .readable("PrimitiveClass", Class.class, () -> int.class)
            .readable("ObjectName", ObjectName.class, () -> new ObjectName("target:type=Texts"))
            .readable("ObjectNames", ObjectName[].class, () -> new ObjectName[] {
                new ObjectName("target:type=Texts"), new ObjectName("target:type=Times")
            })
            .readable("Uuid", UUID.class, () -> UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"))
            .readable("Uri", URI.class, () -> URI.create("http://localhost/a?b=c"))
            .readable("File", File.class, () -> new File("/var/lib/data"))
            .readable("Locale", Locale.class, () -> Locale.GERMANY);
    }

    static Table times() {
        Instant instant = Instant.parse("2024-02-29T12:34:56.789Z");
        LocalDateTime local = LocalDateTime.parse("2024-02-29T12:34:56.789");
        return new Table()
            .readable("Date", Date.class, () -> Date.from(instant))
            .readable("EarlyDate", Date.class, () -> new Date(-1))
            .readable("FarDate", Date.class, () -> new Date(Long.MAX_VALUE))
            .readable("Instant", Instant.class, () -> instant)
            .readable("NanoInstant", Instant.class, () -> Instant.parse("2024-02-29T12:34:56.000000001Z"))
            .readable("MaxInstant", Instant.class, () -> Instant.MAX)
            .readable("Duration", Duration.class, () -> Duration.ofMillis(90_500))
            .readable("NegativeDuration", Duration.class, () -> Duration.ofMillis(-1_500))
            .readable("LocalDate", LocalDate.class, () -> local.toLocalDate())
            .readable("LocalTime", LocalTime.class, () -> local.toLocalTime())
            .readable("FullHour", LocalTime.class, () -> LocalTime.of(7, 0))
            .readable("LocalDateTime", LocalDateTime.class, () -> local)
            .readable("OffsetDateTime", OffsetDateTime.class, () -> local.atOffset(ZoneOffset.ofHours(2)))
            .readable("ZonedDateTime", ZonedDateTime.class, () -> local.atZone(ZoneId.of("Europe/Zurich")))
            .readable("ZoneId", ZoneId.class, () -> ZoneId.of("Europe/Zurich"))
            .readable("Period", Period.class, () -> Period.of(1, 2, 3))
            .readable("Year", Year.class, () -> Year.of(2024));
    }
}
