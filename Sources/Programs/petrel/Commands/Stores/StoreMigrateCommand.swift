import CommandInterface
import Configuration
import Foundation
import JSONCoding
import SQLEngine
import Storage
import StoreModel
import StoreTools

/// The command `petrel store migrate`, which moves a store from a file to PostgreSQL or back.
///
/// No server may have one of the two stores open. If the command is interrupted, the same command
/// continues the move.
struct StoreMigrateCommand: Command {
  let name = "store migrate"
  let example =
    "petrel store migrate --from /var/lib/petrel --to postgres://petrel@localhost/petrel"
  let summary = "Moves the store to PostgreSQL, or back, while no server has it open."
  let options: [Arguments.Option] = [
    .init(
      "from", "LOCATION",
      "the store to move: a data directory, the file of a store, or postgres://…",
      isRequired: true),
    .init(
      "to", "LOCATION", "the target, of the same kinds, which must be empty", isRequired: true),
    .init(
      "data", "DIRECTORY",
      "the directory of the assets for a store in PostgreSQL (default the other store's data directory)"
    ),
    AdminOptions.json,
  ]
  let exitStatuses: [(Int32, String)] = [
    (ExitStatus.done, "the target has all data of the source"),
    (
      ExitStatus.failed,
      "the move is incomplete; run the command again to continue, unless a message says otherwise"
    ),
  ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let from = try Self.place("from", arguments)
    let to = try Self.place("to", arguments)
    let data = arguments.string("data")
    let progress = ProgressLine()
    defer { progress.end() }
    let result = try await StoreMove.run(
      from: from.location(assetsIn: data ?? to.directory),
      to: to.location(assetsIn: data ?? from.directory)
    ) {
      progress.show($0.text)
    }
    progress.end()
    for name in result.missingAssets {
      Output.complain("the asset file \(name) was already missing in \(from)".printable)
    }
    if arguments.flag("json") {
      Output.json(result.json(from: from, to: to))
    } else {
      Output.line(
        "\(result.rows.counting("row")) of \(result.tables.count.counting("table")) and "
          + "\(result.assets.counting("file")) of assets are in \(to), the same as in \(from)")
      Output.line(
        "do not start a server on \(from) any more: both stores would give the same numbers to "
          + "different changes, and devices would miss changes")
    }
    return ExitStatus.done
  }

  /// Returns the location of `--from` or `--to`. A path is the file of a store in two cases: it is
  /// an existing file, or nothing exists there and the path ends in `.sqlite`. Any other path is a
  /// data directory.
  ///
  /// - Throws: `UsageError` if the option is missing or the address is invalid.
  private static func place(_ option: String, _ arguments: Arguments) throws -> Place {
    guard let text = arguments.string(option), !text.isEmpty else {
      throw UsageError(
        "needs --\(option) LOCATION: a data directory, the file of a store, or postgres://…")
    }
    guard PostgreSQLAddress.isAddress(text) else {
      var isDirectory: ObjCBool = false
      let isThere = FileManager.default.fileExists(atPath: text, isDirectory: &isDirectory)
      let url = URL(fileURLWithPath: text).standardizedFileURL
      return isThere && !isDirectory.boolValue || !isThere && url.pathExtension == "sqlite"
        ? .file(url.path) : .directory(url.path)
    }
    do {
      return .postgreSQL(try PostgreSQLAddress(text))
    } catch let error as StoreError {
      throw UsageError("--\(option): \(error)")
    }
  }

  /// A location that the user named.
  enum Place: CustomStringConvertible {
    case directory(String)
    case file(String)
    case postgreSQL(PostgreSQLAddress)

    var directory: String? {
      switch self {
      case .directory(let path): path
      case .file(let path): AssetFiles.folder(of: path)
      case .postgreSQL: nil
      }
    }

    /// Returns the location of the store.
    ///
    /// - Parameter data: The data directory with the assets of a store in PostgreSQL; `nil` if no
    ///   directory is named. Other locations ignore the parameter.
    func location(assetsIn data: String?) -> StoreLocation {
      switch self {
      case .directory(let path):
        .file(path: ServerConfiguration(dataDirectory: path).storePath)
      case .file(let path):
        .file(path: path)
      case .postgreSQL(let address):
        .postgreSQL(
          address, assets: data.map { ServerConfiguration(dataDirectory: $0).assetsPath })
      }
    }

    var description: String {
      switch self {
      case .directory(let path), .file(let path): path
      case .postgreSQL(let address): "\(address)"
      }
    }
  }
}

extension StoreMove.Progress {
  var text: String {
    let part = "table \(tableNumber) of \(tables) (\(table)), \(rows.counting("row"))"
    return switch stage {
    case .copying: "copying \(part)"
    case .copyingAssets: "copying assets, \(assets.counting("file"))"
    case .comparing: "comparing \(part)"
    }
  }
}

extension StoreMove.Result {
  fileprivate func json(
    from: StoreMigrateCommand.Place, to: StoreMigrateCommand.Place
  ) -> JSONValue {
    [
      "from": .string("\(from)"), "to": .string("\(to)"), "continued": .bool(isContinued),
      "rows": .int(Int64(rows)), "assets": .int(Int64(assets)), "assetBytes": .int(assetBytes),
      "missingAssets": .array(missingAssets.map { .string($0) }),
      "tables": .array(
        tables.map {
          ["table": .string($0.name), "rows": .int(Int64($0.rows)), "digest": .string($0.digest)]
        }),
    ]
  }
}
