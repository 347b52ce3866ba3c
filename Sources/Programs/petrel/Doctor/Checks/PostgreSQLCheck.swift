import CommandInterface
import PetrelServer
import SQLEngine
import Settings
import Storage
import StoreModel
import StoreTools

/// The check of the PostgreSQL server that has the store: reachability, version, schema, durability
/// settings and connections.
struct PostgreSQLCheck: Sendable {
  let address: PostgreSQLAddress

  func findings() async -> [Finding] {
    do {
      return Self.judge(try await PostgreSQLExamination.look(at: address), at: "\(address)")
    } catch {
      return [
        .problem(
          "the store cannot be reached: \((error as? StoreError)?.reason ?? "\(error)")",
          "check that PostgreSQL runs there, and read its log; run this as the server's user"
        )
      ]
    }
  }

  static func judge(_ found: PostgreSQLExamination, at address: String) -> [Finding] {
    var findings = [version(found), schemaVersion(found)]
    if found.encoding != "UTF8" {
      findings.append(
        .problem(
          "the database at \(address) has the encoding \(found.encoding), which cannot store every text",
          "create another one: createdb --encoding=UTF8 --template=template0 NAME"))
    }
    if found.isStandby {
      findings.append(
        .problem(
          "\(address) is a standby server and accepts no writes",
          "name its primary server, or several servers with target_session_attrs=read-write"))
    }
    for setting in found.unsafeSettings {
      findings.append(
        .warning(
          "\(setting) is off: a power failure may damage the store",
          "ALTER SYSTEM SET \(setting) = on; SELECT pg_reload_conf()"))
    }
    if !found.hasChecksums {
      findings.append(
        .warning(
          "data_checksums is off: PostgreSQL does not notice pages that a disk damaged",
          "stop PostgreSQL and run 'pg_checksums --enable -D' on its data directory"))
    }
    if found.damagedPages > 0 {
      findings.append(
        .problem(
          "PostgreSQL has read \(found.damagedPages.counting("page")) that did not match the checksum: "
            + "its files are damaged",
          "stop the servers and PostgreSQL, keep the cluster's files, check the disk (dmesg), and "
            + "restore a backup elsewhere; its log and pg_checksums --check name the files"))
    }
    if let restoration = found.restoration {
      findings.append(
        .problem(
          restoration, "stop the servers first (docs/operate/backups.md, Going back to a copy)"))
    }
    findings.append(connections(found))
    if let spread = found.spread { findings.append(distribution(spread)) }
    if let bytes = found.storeBytes {
      findings.append(.ok("the store's tables and indexes take \(bytes >> 20) MiB"))
    }
    return findings
  }

  private static func version(_ found: PostgreSQLExamination) -> Finding {
    let text = "PostgreSQL \(found.version / 10_000).\(found.version % 10_000)"
    guard found.version < PostgreSQLExamination.oldestVersion else { return .ok(text) }
    return .problem(
      "\(text) is too old: Petrel is not tested with it", "upgrade it to version 13 or newer")
  }

  private static func schemaVersion(_ found: PostgreSQLExamination) -> Finding {
    let newest = StoreExamination.newestVersion
    switch found.schemaVersion {
    case nil: return .ok("there is no store yet; the first start creates it")
    case let version? where version > newest:
      return .problem(
        "the store has schema version \(version), and this program knows versions up to \(newest): a server refuses it",
        "install the newer program that wrote it, or restore an earlier backup")
    case let version? where version < StoreExamination.oldestVersion:
      return .problem(
        "the store has schema version \(version), which Petrel had before its first release: a server refuses it",
        "start with an empty database, or use the older program")
    case let version? where version < newest:
      return .ok(
        "the store has schema version \(version); the next start migrates it to \(newest); back up first"
      )
    case let version?:
      return .ok("the store has schema version \(version), the newest that this program knows")
    }
  }

  /// Returns the finding about a store whose tables are distributed over several nodes with the
  /// PostgreSQL extension Citus.
  private static func distribution(_ spread: StoreDistribution.Spread) -> Finding {
    let shards = spread.shardCount.counting("shard")
    guard spread.nodeCount > 0 else {
      return .problem(
        "the store is distributed over \(shards), but the database no longer has Citus: no server can "
          + "start",
        "restore a backup of all nodes from before the extension was dropped")
    }
    return .ok("the store is distributed over \(spread.nodeCount.counting("node")) in \(shards)")
  }

  /// The connections that a server needs, and three more for commands that run beside the server.
  private static let wantedConnections = PostgreSQLExamination.connections + 3

  /// Returns the finding about free connections. If a server runs already, three are enough.
  private static func connections(_ found: PostgreSQLExamination) -> Finding {
    let free = found.connectionLimit - found.usedConnections
    let text = "\(free) of \(found.connectionLimit) connections are free"
    let wanted = found.isServed ? 3 : wantedConnections
    guard free < wanted else { return .ok(text) }
    return .warning(
      "\(text); a server uses \(PostgreSQLExamination.connections), and each command uses as many",
      "raise max_connections, or find the clients that hold them: SELECT * FROM pg_stat_activity")
  }
}
