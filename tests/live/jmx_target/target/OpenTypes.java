package target;

import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularData;
import javax.management.openmbean.TabularDataSupport;
import javax.management.openmbean.TabularType;

/** Composite and tabular data. */
final class OpenTypes {
    private OpenTypes() {}

    static Table tables() {
        return new Table()
            .readable("OneIndex", TabularData.class, () -> disks("disk"))
            .readable("TwoIndexes", TabularData.class, () -> disks("host", "disk"))
            .readable("MapLike", TabularData.class, OpenTypes::mapLike)
            .readable("Empty", TabularData.class, () -> new TabularDataSupport(diskTable("disk")))
            .readable("Null", TabularData.class, () -> null)
            .readable("Composites", CompositeData[].class, () -> new CompositeData[] {
                disk("a", "sda", 1), disk("b", "sdb", 2)
            });
    }

    /** A composite with a member that is null: jmxquery 0.6.0 never comes back from it. */
    static Table composites() {
        return new Table()
            .readable("Plain", CompositeData.class, () -> disk("a", "sda", 1))
            .readable("Nested", CompositeData.class, OpenTypes::nested)
            .readable("OddKeys", CompositeData.class, OpenTypes::oddKeys)
            .readable("Null", CompositeData.class, () -> null);
    }

    private static CompositeType diskType() throws OpenDataException {
        return type("disk", new String[] {"host", "disk", "used"},
            SimpleType.STRING, SimpleType.STRING, SimpleType.LONG);
    }

    private static CompositeData disk(String host, String disk, long used) throws OpenDataException {
        return data(diskType(), new String[] {"host", "disk", "used"}, host, disk, used);
    }

    private static TabularType diskTable(String... index) throws OpenDataException {
        return new TabularType("disks", "disks", diskType(), index);
    }

    private static TabularData disks(String... index) throws OpenDataException {
        TabularData table = new TabularDataSupport(diskTable(index));
        table.put(disk("a", "sda", 1));
        table.put(disk("b", "sdb", 2));
        return table;
    }

    private static TabularData mapLike() throws OpenDataException {
        String[] items = {"key", "value"};
        CompositeType row = type("entry", items, SimpleType.STRING, SimpleType.DOUBLE);
        TabularData table = new TabularDataSupport(new TabularType("map", "map", row, new String[] {"key"}));
        table.put(data(row, items, "one", 1.0));
        table.put(data(row, items, "not a number", Double.NaN));
        return table;
    }

    private static CompositeData nested() throws OpenDataException {
        String[] items = {"count", "nothing", "inner", "table", "list"};
        CompositeType type = type("outer", items,
            SimpleType.INTEGER, SimpleType.STRING, diskType(), diskTable("disk"),
            new ArrayType<>(1, SimpleType.STRING));
        return data(type, items, 5, null, disk("c", "sdc", 3), disks("disk"), new String[] {"x", "y"});
    }

    private static CompositeData oddKeys() throws OpenDataException {
        String[] items = {"a/b", "with blank", "semi;colon", "Größe", "0"};
        SimpleType<?> number = SimpleType.INTEGER;
        CompositeType type = type("odd", items, number, number, number, number, number);
        return data(type, items, 1, 2, 3, 4, 5);
    }

    private static CompositeType type(String name, String[] items, OpenType<?>... types)
            throws OpenDataException {
        return new CompositeType(name, name, items, items, types);
    }

    private static CompositeData data(CompositeType type, String[] items, Object... values)
            throws OpenDataException {
        return new CompositeDataSupport(type, items, values);
    }
}
