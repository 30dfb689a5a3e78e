package target;

/** What a Standard bean shows. */
public interface StandardMBean {
    int getNumber();

    String getText();

    boolean isEven();

    long getThreshold();

    void setThreshold(long threshold);
}
