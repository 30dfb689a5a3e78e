package target;

import java.util.LinkedHashMap;
import java.util.Map;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanInfo;

/** A bean whose attributes are a table: two beans of this class need not have the same ones. */
final class Table implements DynamicMBean {
    /** Makes the value of an attribute, each time it is asked for. */
    interface Getter {
        Object get() throws Exception;
    }

    private static final class Row {
        final MBeanAttributeInfo info;
        volatile Getter getter;

        Row(MBeanAttributeInfo info, Getter getter) {
            this.info = info;
            this.getter = getter;
        }
    }

    private final Map<String, Row> rows = new LinkedHashMap<>();

    /** An attribute that can be read; returns this table. */
    Table readable(String name, Class<?> type, Getter getter) {
        return add(name, type, getter, true, false);
    }

    /** An attribute that can be read and written; returns this table. */
    Table variable(String name, Class<?> type, Object value) {
        return add(name, type, () -> value, true, true);
    }

    /** An attribute that can only be written; returns this table. */
    Table writeOnly(String name, Class<?> type) {
        return add(name, type, null, false, true);
    }

    private Table add(String name, Class<?> type, Getter getter, boolean readable, boolean writable) {
        String description = "the attribute " + name;
        rows.put(name, new Row(
            new MBeanAttributeInfo(name, type.getName(), description, readable, writable, false), getter));
        return this;
    }

    @Override
    public Object getAttribute(String name) throws AttributeNotFoundException, MBeanException {
        Getter getter = row(name).getter;
        if (getter == null) {
            throw new AttributeNotFoundException("No getter for " + name);
        }
        try {
            return getter.get();
        } catch (RuntimeException error) {
            throw error;
        } catch (Exception error) {
            throw new MBeanException(error);
        }
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
        Row row = row(attribute.getName());
        if (!row.info.isWritable()) {
            throw new AttributeNotFoundException("No setter for " + attribute.getName());
        }
        Object value = attribute.getValue();
        if (row.info.isReadable()) {
            row.getter = () -> value;
        }
    }

    /** As the JDK's own beans do: what throws an exception is left out, an error spoils it all. */
    @Override
    public AttributeList getAttributes(String[] names) {
        AttributeList list = new AttributeList();
        for (String name : names) {
            try {
                list.add(new Attribute(name, getAttribute(name)));
            } catch (Exception leftOut) {
                continue;
            }
        }
        return list;
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Object invoke(String action, Object[] arguments, String[] signature) {
        throw new UnsupportedOperationException(action);
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        MBeanAttributeInfo[] infos =
            rows.values().stream().map(row -> row.info).toArray(MBeanAttributeInfo[]::new);
        return new MBeanInfo(Table.class.getName(), "a table", infos, null, null, null);
    }

    private Row row(String name) throws AttributeNotFoundException {
        Row row = rows.get(name);
        if (row == null) {
            throw new AttributeNotFoundException("No such attribute: " + name);
        }
        return row;
    }
}
