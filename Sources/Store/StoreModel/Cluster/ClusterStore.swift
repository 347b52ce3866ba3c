/// Cluster membership, and the leases that decide which server dispatches the changes of a
/// database.
///
/// A server registers and renews its registration. Any server removes an expired registration,
/// which frees its leases. A lease is valid while its holder is registered, so one row is renewed
/// for all of them, as with the epochs of CockroachDB. A server that commits changes takes the
/// lease of their database in the same transaction, or wakes up its holder; these rows are the
/// pointers of QuiCK (SIGMOD 2021). All times are the store's.
///
/// Leases distribute the work. They do not ensure that each change is dispatched once and in order;
/// ``OutboxStore/completeDispatch(of:timestamp:leasing:)`` ensures this by a check of the position.
/// But the rules of leases ensure that no change waits forever.
public protocol ClusterStore: ClusterMembership, DispatchLeases, PartitionStore, ServerList {}
