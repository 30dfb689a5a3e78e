/* A clock that is ahead by the seconds in a file (STALLWATCH_CLOCK), for a program that preloads this.

Waits until a moment of that clock end when they should: libfaketime 0.9.10 lets those of MySQL 9.7 spin. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead(void) {
    static volatile int64_t *seconds; /* the first octets of a file, so that it can be set meanwhile */
    static int known;
    if (!known) {
        const char *path = getenv("STALLWATCH_CLOCK");
        int file = path ? open(path, O_RDONLY) : -1;
        void *shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *seconds, PROT_READ, MAP_SHARED, file, 0);
        if (file >= 0) close(file);
        seconds = shared == MAP_FAILED ? NULL : shared;
        known = 1;
    }
    return seconds ? *seconds : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}

static struct timespec real_moment(const struct timespec *moment, clockid_t clock) {
    struct timespec real = *moment;
    if (clock == CLOCK_REALTIME) real.tv_sec -= ahead();
    return real;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!real) real = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2"); /* of x86_64 */
    if (!real) real = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    /* glibc 2.25 and later: the second bit tells that it waits by the monotonic clock */
    clockid_t clock = condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    struct timespec moment = real_moment(until, clock);
    return real(condition, mutex, &moment);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    struct timespec moment = real_moment(until, clock);
    return real(condition, mutex, clock, &moment);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    static int (*real)(pthread_mutex_t *, const struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "pthread_mutex_timedlock");
    struct timespec moment = real_moment(until, CLOCK_REALTIME);
    return real(mutex, &moment);
}
