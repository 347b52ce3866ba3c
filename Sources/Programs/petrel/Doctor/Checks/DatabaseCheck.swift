import Foundation
import PetrelServer
import Settings
import Storage
import StoreModel
import StoreTools

/// The check of a store in a file: whether this program can open it and whether it is damaged.
struct DatabaseCheck: Sendable {
  /// The longest time for reading the store, without `--deep`.
  static let patience = Duration.seconds(20)
  /// The bytes of the write-ahead log at which saves begin to wait.
  private static let longLog = StoreConfiguration().tuning.logPages * 4_096

  /// The path of the store's file.
  let path: String
  /// Whether the whole store and its indexes are read, without a time limit.
  let isDeep: Bool

  /// Reads the store. A missing store is no problem, because the first start creates it.
  func findings() async -> [Finding] {
    let found: StoreExamination
    do {
      found = try await StoreExamination.look(
        atStoreAt: path, depth: isDeep ? .full : .quick,
        within: isDeep ? .seconds(365 * 86_400) : Self.patience)
    } catch let error as StoreError where error.code == .notFound {
      return [.ok("there is no store yet; the first start makes it")]
    } catch {
      return [
        .problem(
          "the store cannot be read: \(error)", "run this as the server's user; else see dmesg")
      ]
    }
    return Self.judge(found, path: path, isDeep: isDeep)
  }

  /// Returns the findings for what the examination saw.
  static func judge(_ found: StoreExamination, path: String, isDeep: Bool) -> [Finding] {
    guard found.faults.isEmpty else {
      return found.faults.map {
        .problem(
          "the store is damaged: \($0)",
          "stop the server, keep all of \(path)*, and petrel restore a backup elsewhere")
      }
    }
    let newest = StoreExamination.newestVersion
    var findings: [Finding] = []
    switch found.schemaVersion {
    case nil where found.bytes == 0:
      findings.append(.ok("the store is empty; the first start fills it"))
    case nil:
      findings.append(
        .problem(
          "\(path) is a database, but no store of Petrel", "name another directory with --data"))
    case let version? where version > newest:
      findings.append(
        .problem(
          "the store has schema version \(version), and this program knows versions up to \(newest): it will be "
            + "refused", "install the newer program that wrote it, or restore a backup from before")
      )
    case let version? where version < StoreExamination.oldestVersion:
      findings.append(
        .problem(
          "the store has schema version \(version), which Petrel had before its first release: it will be refused",
          "begin with an empty data directory, or use the older program"))
    case let version? where version < newest:
      findings.append(
        .ok(
          "the store has schema version \(version); the next start brings it to \(newest): back up first"
        ))
    case let version?:
      findings.append(
        .ok("the store has schema version \(version), the newest that this program knows"))
    }
    let size = "\((found.bytes + (1 << 20) - 1) >> 20) MiB"
    if !found.isComplete {
      findings.append(
        .ok(
          "no damage in what \(patience.components.seconds) s could show of \(size); --deep looks at all"
        ))
    } else {
      findings.append(.ok("no damage in \(size)" + (isDeep ? ", indexes compared" : "")))
    }
    if found.logBytes > 2 * longLog {
      findings.append(
        .warning(
          "the write-ahead log has \(found.logBytes >> 20) MiB",
          "find who reads from an old state of the store: fuser -v \(path)"))
    }
    return findings
  }
}
