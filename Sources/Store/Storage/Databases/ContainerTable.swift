import SQLEngine
import StoreModel

/// The containers in which the store has data. Users name containers as they like if the
/// configuration lists none, so their number has limits.
///
/// The first data of a container adds the row: a database, a device, a permission, a credential or
/// a schema. No row is deleted.
struct ContainerTable: Table {
  let transaction: StoreTransaction

  /// `made_by` is the record name of the user whose request added the container; empty for an
  /// administrator, and after the user was deleted. `made_at` is 0 for an administrator.
  static let definition = [
    """
    CREATE TABLE containers (
      container TEXT PRIMARY KEY, made_by TEXT NOT NULL, made_at BIGINT NOT NULL)
    """,
    "CREATE INDEX containers_by_maker ON containers (made_by, made_at)",
  ]

  /// A container counts as new for one hour for the limit of its maker.
  private static let newMilliseconds: Int64 = 60 * 60 * 1000

  /// Adds a container, if it is new. The reference lock makes the limits exact.
  ///
  /// - Parameter maker: nil for an administrator, who has no limit.
  /// - Throws: ``LocksNeeded`` if the container is new and the transaction does not have the
  ///   reference lock; ``ItemFailure/Code/quotaExceeded`` at a limit.
  func enter(_ container: String, for maker: ContainerMaker?) throws {
    if try connection.exists(sql.exists, [.text(container)]) { return }
    try transaction.require(.reference)
    if let maker { try checkLimits(for: container, by: maker) }
    try decide(
      sql.enter,
      [
        .text(container), .text(maker?.userRecordName ?? ""),
        .integer(maker?.timestamp.milliseconds ?? 0),
      ])
  }

  func forgetMaker(_ userRecordName: String) throws {
    try decide(sql.forgetMaker, [.text(userRecordName)])
  }

  private func checkLimits(for container: String, by maker: ContainerMaker) throws {
    let quotas = transaction.context.quotas
    let limit = quotas[.containers]
    if limit < .max, try connection.count(sql.count, []) >= limit {
      throw quotas.refusal(
        of: .containers, field: "container",
        "container '\(container)' would be new: the server has \(limit) containers, the limit; use "
          + "one of them, or ask the operator to list this one in 'containers' of server.json")
    }
    let userLimit = quotas[.newContainersPerUser]
    guard userLimit < .max else { return }
    let made = try connection.count(
      sql.countOfMaker,
      [.text(maker.userRecordName), .integer(maker.timestamp.milliseconds - Self.newMilliseconds)])
    guard made >= userLimit else { return }
    throw quotas.refusal(
      of: .newContainersPerUser, field: "container",
      "container '\(container)' would be new: the user has created \(made) containers within the last "
        + "hour, and the limit is \(userLimit); try again later")
  }

  struct Statements {
    let exists: Statement = "SELECT 1 FROM containers WHERE container = $1"
    let enter: Statement = """
      INSERT INTO containers (container, made_by, made_at) VALUES ($1, $2, $3)
      ON CONFLICT (container) DO NOTHING
      """
    let forgetMaker: Statement = "UPDATE containers SET made_by = '' WHERE made_by = $1"
    let count = "SELECT COUNT(*) FROM containers".except(.wholeTable)
    let countOfMaker: Statement =
      "SELECT COUNT(*) FROM containers WHERE made_by = $1 AND made_at > $2"
  }
  static let sql = Statements()
}
