/// The services for a cluster: the servers that share a store. They are the registrations of the
/// servers, and the leases of databases. A lease is the right of one server to dispatch a
/// database's changes: to match the changes against subscriptions and write the notifications.
///
/// A server registers, and renews its registration every few seconds. If a registration expires,
/// any other server removes it. A lease is valid while its holder is registered. So a server renews
/// one row for all its leases, as with the epochs of CockroachDB.
///
/// A transaction that commits changes of a database also looks at the lease. If the database has
/// none, the committing server gets the lease. If another server has the lease, the transaction
/// sets a mark that wakes up that server. The rows of the leases correspond to the pointers of
/// QuiCK (SIGMOD 2021). All times are those of the store's clock.
///
/// The leases distribute the work, and ensure that no change waits forever. They do not ensure that
/// each change is dispatched once and in order:
/// ``OutboxStore/completeDispatch(of:timestamp:leasing:)`` does, because it compares the changes
/// with the last dispatched one.
public protocol ClusterStore: ClusterMembership, DispatchLeases, PartitionStore, ServerList {}
