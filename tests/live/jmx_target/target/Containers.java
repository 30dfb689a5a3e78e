package target;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Arrays, collections and maps. */
final class Containers {
    private static final List<String> THREE = Arrays.asList("one", "two", "three");
    private static final int HUGE = 20_000_000;
    private static final int DEEP = 300;
    private static final int BOMB = 40;

    private Containers() {}

    static Table arrays() {
        return new Table()
            .readable("Ints", int[].class, () -> new int[] {1, -2, 3})
            .readable("Longs", long[][].class, () -> new long[][] {{1, 2}, {}, null, {1L << 40}})
            .readable("Bytes", byte[].class, () -> new byte[] {0, 127, -128})
            .readable("Shorts", short[].class, () -> new short[] {1, -1})
            .readable("Chars", char[].class, () -> new char[] {'a', 'é', '東'})
            .readable("Floats", float[].class, () -> new float[] {0.5f, Float.NaN})
            .readable("Doubles", double[].class, () -> new double[] {0.5, Double.NEGATIVE_INFINITY})
            .readable("Booleans", boolean[].class, () -> new boolean[] {true, false})
            .readable("Strings", String[].class, () -> new String[] {"one", null, "thr|ee"})
            .readable("Empty", String[].class, () -> new String[0])
            .readable("Null", String[].class, () -> null)
            .readable("Mixed", Object[].class, () -> new Object[] {
                1, "two", 3.5, null, new int[] {4}, List.of(5)
            })
            .readable("Enums", TimeUnit[].class, () -> new TimeUnit[] {TimeUnit.DAYS, TimeUnit.HOURS})
            .readable("Same", Object[].class, () -> {
                String same = "same";
                return new Object[] {same, same, THREE, THREE};
            });
    }

    static Table collections() {
        return new Table()
            .readable("ArrayList", List.class, Containers::list)
            .readable("LinkedList", List.class, () -> new LinkedList<>(THREE))
            .readable("Vector", List.class, () -> new Vector<>(THREE))
            .readable("CopyOnWriteArrayList", List.class, () -> new CopyOnWriteArrayList<>(THREE))
            .readable("AsList", List.class, () -> THREE)
            .readable("ListOf", List.class, () -> List.of("one", "two", "three"))
            .readable("ListOfTwo", List.class, () -> List.of("one", "two"))
            .readable("EmptyList", List.class, List::of)
            .readable("OldEmptyList", List.class, Collections::emptyList)
            .readable("SingletonList", List.class, () -> Collections.singletonList("one"))
            .readable("UnmodifiableList", List.class, () -> Collections.unmodifiableList(list()))
            .readable("SynchronizedList", List.class, () -> Collections.synchronizedList(list()))
            .readable("NCopies", List.class, () -> Collections.nCopies(3, "copy"))
            .readable("ArrayDeque", Object.class, () -> new ArrayDeque<>(THREE))
            .readable("PriorityQueue", Object.class, () -> new PriorityQueue<>(THREE))
            .readable("LinkedBlockingQueue", Object.class, () -> new LinkedBlockingQueue<>(THREE))
            .readable("ConcurrentLinkedQueue", Object.class, () -> new ConcurrentLinkedQueue<>(THREE))
            .readable("HashSet", Set.class, () -> new HashSet<>(THREE))
            .readable("LinkedHashSet", Set.class, () -> new LinkedHashSet<>(THREE))
            .readable("TreeSet", Set.class, () -> new TreeSet<>(THREE))
            .readable("ReverseTreeSet", Set.class, () -> {
                Set<String> set = new TreeSet<>(Collections.reverseOrder());
                set.addAll(THREE);
                return set;
            })
            .readable("SetOf", Set.class, () -> Set.of("one", "two", "three"))
            .readable("SingletonSet", Set.class, () -> Collections.singleton("one"))
            .readable("EnumSet", Set.class, () -> EnumSet.of(TimeUnit.DAYS, TimeUnit.HOURS))
            .readable("UnmodifiableSet", Set.class, () -> Collections.unmodifiableSet(new HashSet<>(THREE)))
            .readable("KeySet", Set.class, () -> ConcurrentHashMap.newKeySet())
            .readable("HashMap", Map.class, () -> new HashMap<>(map()))
            .readable("LinkedHashMap", Map.class, Containers::map)
            .readable("TreeMap", Map.class, () -> new TreeMap<>(map()))
            .readable("Hashtable", Map.class, () -> new Hashtable<>(map()))
            .readable("ConcurrentHashMap", Map.class, () -> new ConcurrentHashMap<>(map()))
            .readable("ConcurrentSkipListMap", Map.class, () -> new ConcurrentSkipListMap<>(map()))
            .readable("EnumMap", Map.class, () -> new EnumMap<>(Map.of(TimeUnit.DAYS, 1, TimeUnit.HOURS, 24)))
            .readable("IdentityHashMap", Map.class, () -> new IdentityHashMap<>(map()))
            .readable("MapOf", Map.class, () -> Map.of("one", 1, "two", 2))
            .readable("MapOfOne", Map.class, () -> Map.of("one", 1))
            .readable("EmptyMap", Map.class, Map::of)
            .readable("SingletonMap", Map.class, () -> Collections.singletonMap("one", 1))
            .readable("UnmodifiableMap", Map.class, () -> Collections.unmodifiableMap(map()))
            .readable("SynchronizedMap", Map.class, () -> Collections.synchronizedMap(map()))
            .readable("OddKeys", Map.class, Containers::oddKeys)
            .readable("Nested", Map.class, () -> Map.of("list", List.of(Map.of("deep", new int[] {1, 2}))))
            .readable("Properties", Properties.class, Containers::properties);
    }

    private static List<String> list() {
        return new ArrayList<>(THREE);
    }

    private static Map<String, Integer> map() {
        Map<String, Integer> map = new LinkedHashMap<>();
        map.put("one", 1);
        map.put("two", 2);
        return map;
    }

    private static Map<Object, Object> oddKeys() {
        Map<Object, Object> map = new LinkedHashMap<>();
        map.put(1, "a number");
        map.put(null, "null");
        map.put(true, null);
        map.put(TimeUnit.DAYS, "an enum");
        map.put(List.of(1, 2), "a list");
        map.put("a/b", "a slash");
        return map;
    }

    private static Properties properties() {
        Properties properties = new Properties();
        properties.setProperty("one", "1");
        properties.setProperty("two", "2");
        return properties;
    }

    static Table big() {
        return new Table()
            .readable("Text", String.class, () -> "x".repeat(HUGE))
            .readable("Array", long[].class, () -> new long[HUGE / Long.BYTES])
            .readable("Deep", Object.class, () -> nest(DEEP, false))
            .readable("Bomb", Object.class, () -> nest(BOMB, true))
            .readable("Small", int.class, () -> 1);
    }

    /** Lists in lists; with twice, each holds the next one two times: as a tree, 2^levels leaves. */
    private static Object nest(int levels, boolean twice) {
        Object inner = "the innermost";
        for (int i = 0; i < levels; i++) {
            inner = new ArrayList<>(twice ? Arrays.asList(inner, inner) : Arrays.asList(inner));
        }
        return inner;
    }
}
