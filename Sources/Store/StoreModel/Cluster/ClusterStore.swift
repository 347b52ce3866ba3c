/// What the servers that share a store know of each other, and which of them dispatches the changes of
/// a database.
///
/// A server registers and renews its registration. One whose time is over is struck off by whoever
/// notices first, and its leases are free: a lease is good as long as its holder is registered, so that
/// one row is renewed for all of them, as with the epochs of CockroachDB. Whoever commits changes makes
/// the lease of their database for itself, in the same transaction, or wakes up its holder; these
/// rows are the pointers of QuiCK (SIGMOD 2021). All times are the store's.
///
/// Leases decide who works, not what is right: the changes of a database are dispatched in order and
/// once whoever does it (``OutboxStore/completeDispatch(of:timestamp:leasing:)``).
public protocol ClusterStore: ClusterMembership, DispatchLeases, PartitionStore, ServerList {}
