/// Cluster membership, and the leases that decide which server dispatches the changes of a
/// database.
///
/// A server registers and renews its registration. Any server removes an expired registration,
/// which frees its leases. A lease is valid while its holder is registered, so one row is renewed
/// for all of them, as with the epochs of CockroachDB. A server that commits changes takes the
/// lease of their database in the same transaction, or wakes up its holder; these rows are the
/// pointers of QuiCK (SIGMOD 2021). All times are the store's.
///
/// Leases distribute the work. That each change is dispatched once and in order does not depend on
/// them, but on the position that ``OutboxStore/completeDispatch(of:timestamp:leasing:)`` checks.
/// That no change waits forever does depend on the rules of leases.
public protocol ClusterStore: ClusterMembership, DispatchLeases, PartitionStore, ServerList {}
