"""Thread pools as old Cassandras showed them, for a JVM that is none.

The attributes and their types: jmxterm's `info` of a Cassandra of June 2012. In 1.2 each number got a bean.
"""

TASKS = ("ActiveCount", "CompletedTasks", "CurrentlyBlockedTasks", "PendingTasks", "TotalBlockedTasks")
LONG = ("CompletedTasks", "PendingTasks")
COUNTERS = ("CurrentlyBlockedTasks", "TotalBlockedTasks")
OF_1_2 = {"ActiveCount": "ActiveTasks"}


def old_name(path, pool):
    """The pool's one bean."""
    return f"org.apache.cassandra.{path}:type={pool}"


def metric_name(path, pool, metric):
    """The bean of one number of the pool, in 1.2."""
    return f"org.apache.cassandra.metrics:type=ThreadPools,path={path},scope={pool},name={metric}"


def show(jvm, path="internal", pool="FlushWriter", **tasks):
    """Let the JVM have the pool's bean as it was before 1.2; what is not said of TASKS is 0."""
    numbers = {task: ("long" if task in LONG else "int", tasks.get(task, 0)) for task in TASKS}
    jvm.bean(old_name(path, pool), numbers)


def show_metrics(jvm, path="internal", pool="FlushWriter", **tasks):
    """Let the JVM have the pool's beans as they were in 1.2, each with one attribute; TASKS as for show()."""
    for task in TASKS:
        value = tasks.get(task, 0)
        number = {"Count": value} if task in COUNTERS else {"Value": ("java.lang.Object", value)}
        jvm.bean(metric_name(path, pool, OF_1_2.get(task, task)), number)
