import CloudKitModel
import Foundation
import HTTPService
import Logging
import PushChannels
import SQLEngine
import Settings
import Storage
import StoreModel

/// How a server is set up. ``settings`` says what the keys of its file are.
///
/// ```json
/// { "address": "0.0.0.0", "port": 8080, "publicURL": "https://cloud.example.com",
///   "containers": { "iCloud.com.example.app": { "excludesOriginDevice": true,
///     "apns": { "topic": "com.example.app", "teamID": "ABCDE12345", "keyID": "KEY1234567",
///               "keyFile": "AuthKey_KEY1234567.p8" } } } }
/// ```
public struct ServerConfiguration: Sendable, Hashable {
  /// The directory of the store; of its assets alone where it is in PostgreSQL.
  public var dataDirectory: String
  /// How long a poll of the web courier is held when nothing comes, in seconds: short enough for
  /// proxies. It ends up to a second later.
  public var courierPollTime = 30.0

  public var address = "127.0.0.1"
  public var port = 8080
  /// Nil: the address and port.
  public var publicURL: String?
  /// Nil for a file in the data directory.
  public var postgreSQL: PostgreSQLAddress?
  /// Nil for one in the data directory.
  public var assetDirectory: String?
  /// In seconds.
  public var drainTime = 0.0
  /// In seconds; at most ``maximumSignatureWindow``.
  public var signatureWindow = 600.0
  public var storeWriters = 4
  public var storeLogMegabytes = 78
  public var deletionRetentionDays = 90
  public var productionSchema = ProductionSchema.fixed
  /// By identifier. When empty every container is served, without APNs; otherwise only these.
  public var containers: [String: Container] = [:]
  public var signIn = SignIn()
  /// How notifications go to devices, as far as it is not said of each container.
  public var channels = ChannelSettings()
  public var limits = Limits()
  public var notificationLog = NotificationLog()
  public var explain = Explain()
  public var logLevel = ServerLog.Level.info
  public var logFormat = ServerLog.Format.text
  public var metrics = Metrics()
  public var admin = Admin()

  public init(dataDirectory: String) {
    self.dataDirectory = dataDirectory
  }

  /// How `production` gets its record types and fields.
  public enum ProductionSchema: String, Sendable, CaseIterable {
    /// By `petrel schema deploy` alone.
    case fixed
    /// When they are first saved, as in `development`.
    case open
  }

  /// An hour, in seconds. Signatures of requests that change something are remembered as long.
  package static let maximumSignatureWindow = 3600.0

  /// The store's file in the data directory, unless it is in PostgreSQL.
  public var storePath: String { dataDirectory + "/petrel.sqlite" }

  /// Where the server listens for commands of this machine.
  public var socketFile: SocketFile {
    let directory = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
    return SocketFile(path: directory + "/\(Self.socketName)")
  }

  /// All settings of the channels to devices.
  package var channelSettings: PushChannelSettings {
    PushChannelSettings(server: channels, containers: containers.mapValues(\.channels))
  }

  /// The name of the socket in each data directory.
  public static let socketName = "petrel.socket"

  /// Where assets lie whose store is in PostgreSQL.
  public var assetsPath: String { assetDirectory ?? dataDirectory + "/petrel-assets" }

  /// Where the store is.
  public var storeLocation: StoreLocation {
    if let postgreSQL {
      .postgreSQL(postgreSQL, assets: assetsPath)
    } else {
      .file(path: storePath)
    }
  }
}

extension ServerConfiguration {
  static let settings = SettingTable(
    ServerConfiguration(dataDirectory: ""),
    [
      .init(
        "address", \.address, .text, restart: true, option: "ADDRESS", "The address to listen on."),
      .init(
        "port", \.port, .whole(0...65_535), restart: true, option: "PORT",
        "The port to listen on, or 0 to let the system choose."),
      .init(
        "publicURL", \.publicURL, .text, restart: true, option: "URL", default: "address and port",
        "The URL that clients use, where it differs, as behind a proxy."),
      .part(
        "store", .text, restart: true, option: "URL", default: "a file in the data directory",
        shown: { .string($0.postgreSQL?.description ?? $0.storePath) },
        "The [PostgreSQL](operating.md#on-postgresql) of the store, `postgres://USER@HOST/DATABASE`."
      ),
      .part(
        "storeFile", .file(.secret), restart: true,
        "A file with that address, instead of `store`. It keeps a password out of `server.json`."),
      .init(
        "assetDirectory", \.assetDirectory, .folder, restart: true,
        default: "`petrel-assets` in the data directory",
        shown: { $0.postgreSQL == nil ? nil : .string($0.assetsPath) },
        "The folder of the bytes of assets where the store is in PostgreSQL."),
      .init(
        "storeWriters", \.storeWriters, .whole(1...64), restart: true,
        "The transactions that the server writes to PostgreSQL at the same time."),
      .init(
        "storeLogMegabytes", \.storeLogMegabytes, .whole(1...4_096), restart: true,
        "The length of a file's write-ahead log, in MiB, at which it is copied into the database."),
      .init(
        "deletionRetentionDays", \.deletionRetentionDays, .whole(1...36_500, .days), restart: true,
        clientLimit: "deletionRetentionDays",
        "The time for which deletions of records and zones are remembered."),
      .init(
        "signatureWindowSeconds", \.signatureWindow,
        .whole(1...Int64(maximumSignatureWindow), .seconds), clientLimit: "signatureWindow",
        "The time by which the date of a signed request may differ from the server's."),
      .init(
        "productionSchema", \.productionSchema, .choice(ProductionSchema.self), restart: true,
        "How production gets record types and fields ([schemas](schema.md))."),
      .init(
        "drainSeconds", \.drainTime, .whole(0...300, .seconds),
        "The time for which a server that has to stop still answers."),
      .init(
        "logLevel", \.logLevel, .choice(ServerLog.Level.self), restart: true, option: "LEVEL",
        "The least severe level that the [log](#the-log) has."),
      .init(
        "logFormat", \.logFormat, .choice(ServerLog.Format.self), restart: true, option: "FORMAT",
        "The format of the log."),
      .object(
        "metrics", \.metrics, Metrics.settings,
        "Who may read [`/metrics`](operating.md#metrics) besides programs on this machine."),
      .object(
        "limits", \.limits, Limits.settings,
        "[Limits](#limits) for those who use the server, and of its memory."),
      .object(
        "notificationLog", \.notificationLog, NotificationLog.settings,
        "How much the server keeps of users' [notifications](notification-log.md)."),
      .object(
        "explain", \.explain, Explain.settings,
        "What the server keeps to [explain](explaining.md) why a push came or did not."),
      .object(
        "admin", \.self, Admin.settings,
        "Who may [run the server over HTTP](#running-it-over-http)."),
      .named(
        "containers", \.containers, Container.settings,
        default: "all containers, without a way to APNs",
        complaint: { identifier in
          identifier.hasPrefix("iCloud.")
            ? nil : "container '\(identifier)' must begin with 'iCloud.'"
        },
        "The containers that are served, by identifier."),
      .object("signIn", \.signIn, SignIn.settings, "How users [sign in](#signing-in)."),
    ] + PushChannelRegistry.settings.map { $0.within(\.channels) },
    rules: { reader, configuration throws(ConfigurationError) in
      guard let store = try reader.text("store", orIn: "storeFile") else { return }
      do {
        configuration.postgreSQL = try PostgreSQLAddress(store.text)
      } catch {
        let reason = (error as? StoreError)?.reason ?? "\(error)"
        throw reader.mistake(store.key, "'\(store.key)': \(reason)")
      }
    })
}
