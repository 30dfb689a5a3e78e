import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps so many MiB alive as the first argument says, and makes so many MiB of garbage per second as the second one
 * says, a tenth of which lives for a second.
 */
public class Garbage {
    private static final int PIECE = 64 * 1024;
    private static final List<byte[]> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        int perSecond = Integer.parseInt(arguments[1]) * 16;
        for (int piece = 0; piece < Integer.parseInt(arguments[0]) * 16; piece++) {
            KEPT.add(new byte[PIECE]);
        }
        System.out.println("ready");
        ArrayDeque<byte[]> young = new ArrayDeque<>();
        long begun = System.nanoTime();
        for (long made = 0;; made++) {
            byte[] piece = new byte[PIECE];
            if (made % 10 == 0) {
                young.add(piece);
                if (young.size() > perSecond / 10) {
                    young.remove();
                }
            }
            long early = begun + made * 1_000_000_000L / perSecond - System.nanoTime();
            if (early > 1_000_000) {
                Thread.sleep(early / 1_000_000);
            }
        }
    }
}
