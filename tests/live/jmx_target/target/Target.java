package target;

/** A program with beans of every kind; its arguments are the groups to register. See Beans and Control. */
public final class Target {
    private Target() {}

    /** Says "ready, control port N" on standard output when all beans are there. */
    public static void main(String[] groups) throws Exception {
        new Control(groups).serve();
    }
}
