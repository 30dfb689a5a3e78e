package target;

import javax.management.ObjectName;

/** Names that are legal and odd. */
final class Names {
    static final String[] ODD = {
        "target:type=Odd,name=a/b",
        "target:type=Odd,name=a;b",
        "target:type=Odd,name=with two blanks",
        "target:type=Odd,name=Zürich 🐘",
        "target:type=Odd,name=per%cent|pipe",
        "target:type=Odd,name=back\\slash",
        "target:type=Odd,name=apo'strophe",
        "target:type=Odd,name=a<b>c",
        "target:type=Odd,name=" + ObjectName.quote("star * mark ? quote \" backslash \\ newline \n end"),
        "target:type=Odd,name=" + ObjectName.quote("a==b<>c"),
        "target:type=Odd,name=" + ObjectName.quote("a=b,c:d"),
        "target:type=Odd,name=" + ObjectName.quote(""),
        "target:zeta=1,type=Odd,alpha=2",
        "odd domain/with;all-that.:type=Odd,name=x",
        "target:name=no type",
    };

    private Names() {}

    static Table oddAttributes() {
        return new Table()
            .readable("Value", int.class, () -> 1)
            .readable("a/b", int.class, () -> 2)
            .readable("semi;colon", int.class, () -> 3)
            .readable("with blank", int.class, () -> 4)
            .readable("Größe", int.class, () -> 5)
            .readable("dotted.name", int.class, () -> 6);
    }
}
