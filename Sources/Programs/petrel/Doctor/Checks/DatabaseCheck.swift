import Foundation
import PetrelServer
import Settings
import Storage
import StoreModel
import StoreTools

/// The check of a store in a file: whether this program can open it and whether it is damaged.
struct DatabaseCheck: Sendable {
  /// The longest time for reading the store without `--deep`. Then the check reports the part that
  /// was read.
  static let patience = Duration.seconds(20)
  /// The size of SQLite's write-ahead log, in bytes, at which saves wait until the log is copied
  /// into the store's file.
  private static let longLog = StoreConfiguration().tuning.logPages * 4_096

  let path: String
  /// Whether the check also compares the indexes with the tables and reads all asset files, with a
  /// time limit of a year.
  let isDeep: Bool

  /// Reads the store and returns the findings. A missing store is no problem, because the first
  /// start of a server creates it.
  func findings() async -> [Finding] {
    let found: StoreExamination
    do {
      found = try await StoreExamination.look(
        atStoreAt: path, depth: isDeep ? .full : .quick,
        within: isDeep ? .seconds(365 * 86_400) : Self.patience)
    } catch let error as StoreError where error.code == .notFound {
      return [.ok("there is no store yet; the first start creates it")]
    } catch {
      return [
        .problem(
          "the store cannot be read: \(error)",
          "run this as the server's user; if that does not help, see dmesg")
      ]
    }
    return Self.judge(found, path: path, isDeep: isDeep)
  }

  /// Returns the findings for the result of an examination.
  ///
  /// - Parameter isDeep: Whether the examination compared the indexes too.
  static func judge(_ found: StoreExamination, path: String, isDeep: Bool) -> [Finding] {
    guard found.faults.isEmpty else {
      return found.faults.map {
        .problem(
          "the store is damaged: \($0)",
          "stop the server, keep all files \(path)*, and restore a backup elsewhere with 'petrel restore'"
        )
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
          "\(path) is a database, but not a store of Petrel", "name another directory with --data"))
    case let version? where version > newest:
      findings.append(
        .problem(
          "the store has schema version \(version), and this program knows versions up to \(newest): a server "
            + "refuses it", "install the newer program that wrote it, or restore an earlier backup")
      )
    case let version? where version < StoreExamination.oldestVersion:
      findings.append(
        .problem(
          "the store has schema version \(version), which Petrel had before its first release: a server refuses it",
          "start with an empty data directory, or use the older program"))
    case let version? where version < newest:
      findings.append(
        .ok(
          "the store has schema version \(version); the next start migrates it to \(newest); back up first"
        ))
    case let version?:
      findings.append(
        .ok("the store has schema version \(version), the newest that this program knows"))
    }
    let size = "\((found.bytes + (1 << 20) - 1) >> 20) MiB"
    if !found.isComplete {
      findings.append(
        .ok(
          "no damage in the part of \(size) that was read in \(patience.components.seconds) s; --deep reads all"
        ))
    } else {
      findings.append(.ok("no damage in \(size)" + (isDeep ? ", indexes compared" : "")))
    }
    if found.logBytes > 2 * longLog {
      findings.append(
        .warning(
          "the write-ahead log has \(found.logBytes >> 20) MiB",
          "find the program that reads an old state of the store: fuser -v \(path)"))
    }
    return findings
  }
}
