package target;

/** A bean of the everyday kind: whatever its name, its class tells which attributes it has. */
public final class Standard implements StandardMBean {
    private final int number;
    private volatile long threshold;

    Standard(int number) {
        this.number = number;
    }

    @Override
    public int getNumber() {
        return number;
    }

    @Override
    public String getText() {
        return "bean number " + number;
    }

    @Override
    public boolean isEven() {
        return number % 2 == 0;
    }

    @Override
    public long getThreshold() {
        return threshold;
    }

    @Override
    public void setThreshold(long threshold) {
        this.threshold = threshold;
    }
}
