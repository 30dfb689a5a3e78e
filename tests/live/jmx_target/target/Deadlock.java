package target;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Two threads, each holding a lock that the other one waits for. */
final class Deadlock {
    private Thread[] threads = {};

    /** Returns when both threads wait: from then on the JVM finds them. */
    void enter() throws InterruptedException {
        release();
        ReentrantLock left = new ReentrantLock();
        ReentrantLock right = new ReentrantLock();
        CountDownLatch bothHold = new CountDownLatch(2);
        threads = new Thread[] {
            new Thread(() -> hold(left, right, bothHold), "deadlocked-left"),
            new Thread(() -> hold(right, left, bothHold), "deadlocked-right"),
        };
        for (Thread thread : threads) {
            thread.setDaemon(true);
            thread.start();
        }
        bothHold.await();
        while (!left.hasQueuedThreads() || !right.hasQueuedThreads()) {
            Thread.sleep(1);
        }
    }

    /** Lets both threads end. */
    void release() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
        threads = new Thread[] {};
    }

    private static void hold(Lock mine, Lock others, CountDownLatch bothHold) {
        mine.lock();
        try {
            bothHold.countDown();
            bothHold.await();
            others.lockInterruptibly();
        } catch (InterruptedException released) {
            return;
        } finally {
            mine.unlock();
        }
    }
}
