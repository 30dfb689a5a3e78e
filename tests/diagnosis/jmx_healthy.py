"""JVMs that are busy and well."""

import time

from jmx_case import healthy

SETTLES = 4.0  # seconds in which what stays live is made


@healthy("idle", lasts=17.0)
def idle(scene, _):
    """Nothing is asked of the pool."""
    yield
    yield


@healthy("pool just full", strengths={"4 threads": 4})
def pool_just_full(scene, threads):
    """As many threads as connections hold them nearly all the time: nobody waits."""
    yield
    scene.application.tell("work", threads, 500, 5)
    yield


@healthy("busy and moving", strengths={"5 threads": 5, "6 threads": 6})
def busy_and_moving(scene, threads):
    """A few more threads than connections take turns of 10 ms: some wait, for moments."""
    yield
    scene.application.tell("work", threads, 10, 30)
    yield


@healthy("batch")
def batch(scene, _):
    """Three of the four connections work in statements of 3 s, one is left for others."""
    scene.application.tell("work", 1, 20, 500)
    yield
    scene.application.tell("work", 3, 3000, 1)
    yield


@healthy("much garbage", strengths={"50 MiB/s": 50, "150 MiB/s": 150}, heavy=True)
def much_garbage(scene, rate):
    """Garbage is made and soon dropped; little of the heap is live."""
    scene.application.tell("garbage", 20, 5)
    time.sleep(SETTLES)
    yield
    scene.application.tell("garbage", 0, rate)
    yield


@healthy("a request that lasts", strengths={"1 request": 1})
def a_request_that_lasts(scene, requests):
    """One of two threads of a Tomcat works for long at a request."""
    scene.start_tomcat()
    yield
    scene.tomcat.request(scene.tomcat.ports[0], requests, "/orders/")
    yield
