"""Pools of connections to databases, and of other things that are lent."""

from __future__ import annotations

from functools import partial

from stallwatch.causes import Certainty, Kind
from stallwatch.line import Forms
from stallwatch.probes.jmx_thread_pools.families.form import DUMP, Bean, Family, Meaning

_IN_USE = ("connection in use", "connections in use")
_WAITING = ("thread waits for a connection", "threads wait for a connection")


def _slow(more: str) -> tuple[Meaning]:
    """Return what it means that threads wait: also that many need a connection at once."""
    row = Meaning("*", Kind.CONNECTIONS_HELD, "slow SQL or leaks", "check running SQL", more)
    return (row._replace(certainty=Certainty.LIKELY),)


_pool = partial(Family, busy=_IN_USE, waiting=_WAITING, lends=True)

FAMILIES = (
    _pool(
        "HikariCP",
        "HikariCP 6.2.1",
        queries=("com.zaxxer.hikari:*",),
        beans=(
            Bean("type=Pool ({pool})", active="ActiveConnections", blocked="ThreadsAwaitingConnection"),
            Bean("type=PoolConfig ({pool})", maximum="MaximumPoolSize"),
            # with -Dhikaricp.jmx.register2.0=true (HikariCP's PoolBase)
            Bean("type=Pool,name={pool}", active="ActiveConnections", blocked="ThreadsAwaitingConnection"),
            Bean("type=PoolConfig,name={pool}", maximum="MaximumPoolSize"),
        ),
        # After connectionTimeout a waiting thread gets an SQLTransientConnectionException.
        meanings=_slow("leakDetectionThreshold logs who keeps a connection"),
        shown="registerMbeans=true; Spring Boot: spring.datasource.hikari.register-mbeans=true",
    ),
    _pool(
        "c3p0",
        "c3p0 0.9.5.5",
        queries=("com.mchange.v2.c3p0:type=PooledDataSource,*",),
        beans=(
            Bean(  # a user who is named at checkout has a pool besides, of the same size
                "type=PooledDataSource,identityToken=*,name={pool}",
                active="numBusyConnectionsDefaultUser",
                maximum="maxPoolSize",
                blocked="numThreadsAwaitingCheckoutDefaultUser",
            ),
        ),
        meanings=_slow(
            "unreturnedConnectionTimeout and debugUnreturnedConnectionStackTraces log who keeps a connection"
        ),
    ),
    _pool(
        "Druid",
        "Druid 1.2.24",
        queries=("com.alibaba.druid:type=DruidDataSource,*",),
        beans=(
            Bean(
                "type=DruidDataSource,id={pool}",
                active="ActiveCount",
                maximum="MaxActive",
                blocked="WaitThreadCount",
            ),
        ),
        meanings=_slow("removeAbandoned with logAbandoned logs who keeps a connection"),
    ),
    Family(
        "Vibur",
        "Vibur DBCP 26.0",
        queries=("org.vibur.dbcp:*",),
        beans=(Bean("type=ViburDBCP-{pool}", active="PoolTaken", maximum="PoolMaxSize"),),
        meanings=(
            Meaning(
                "*",
                Kind.CONNECTIONS_HELD,
                "threads wait for a connection",
                "check running SQL",
                "Vibur does not show who waits; logConnectionLongerThanMs logs who keeps a connection",
                serves=True,
            ),
        ),
        busy=_IN_USE,
        lends=True,
    ),
    _pool(
        "WebLogic data sources",  # JDBCDataSourceRuntimeMBean in Oracle's reference: it shows no maximum
        "by documentation of WebLogic 14.1.1, not tried",
        queries=("com.bea:Type=JDBCDataSourceRuntime,*",),
        beans=(
            Bean(
                "Type=JDBCDataSourceRuntime,Name={pool},...",
                active="ActiveConnectionsCurrentCount",
                blocked="WaitingForConnectionCurrentCount",
            ),
        ),
        meanings=_slow("Inactive Connection Timeout of the data source takes leaked connections back"),
    ),
    _pool(
        "JDBC pools",  # commons-dbcp, tomcat-jdbc
        "commons-dbcp2 2.13.0, tomcat-dbcp 10.1.34, tomcat-jdbc 10.1.34",
        queries=("*:type=*Pool,*", "*:type=*DataSource,*"),
        beans=(
            # What Tomcat shows of a pool in JNDI: dbcp (maxActive in dbcp 1), tomcat-jdbc with waitCount.
            Bean(
                "type=DataSource,name={pool},...",
                active="numActive",
                maximum="maxTotal maxActive",
                blocked="waitCount",
                without="connectionpool",
            ),
            Bean(
                "type=*DataSource,name={pool},connectionpool=connections,...",
                active="NumActive",
                maximum="MaxTotal",
                blocked="NumWaiters",
                without="connection",
            ),
            Bean(
                "type=ConnectionPool,name={pool},...",
                active="NumActive",
                maximum="MaxActive",
                blocked="WaitCount",
                without="connections",
            ),
        ),
        meanings=_slow("logAbandoned logs who keeps a connection"),
        shown="DBCP jmxName=org.apache.commons.dbcp2:type=BasicDataSource,name=NAME; "
        "tomcat-jdbc in Spring Boot: spring.datasource.tomcat.jmx-enabled=true",
    ),
    Family(
        "Commons Pool",  # of whatever its users keep there: connections to Redis, FTP or LDAP servers
        "commons-pool2 2.12.0",
        queries=("*:type=*Pool,*",),
        beans=(
            Bean(
                "type=Generic*ObjectPool,name={pool}",
                active="NumActive",
                maximum="MaxTotal",
                blocked="NumWaiters",
            ),
        ),
        meanings=(
            Meaning(
                "*",
                Kind.CONNECTIONS_HELD,
                Forms("objects are used for long or never returned", "objects are not returned in time"),
                DUMP,
                "it shows who uses them and who waits",
                certainty=Certainty.LIKELY,
            ),
        ),
        busy=("object in use", "objects in use"),
        waiting=("thread waits for an object", "threads wait for an object"),
        lends=True,
    ),
)
