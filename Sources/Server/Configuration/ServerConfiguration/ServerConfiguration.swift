import CloudKitModel
import Foundation
import HTTPService
import Logging
import PushChannels
import SQLEngine
import Settings
import Storage
import StoreModel

/// The configuration of a server. The keys of the configuration file are declared in ``settings``.
///
/// Values come from these sources, and a later source overrides an earlier one: the defaults, the
/// file, environment variables, and the options of the command.
///
/// ```json
/// { "address": "0.0.0.0", "port": 8080, "publicURL": "https://cloud.example.com",
///   "containers": { "iCloud.com.example.app": { "excludesOriginDevice": true,
///     "apns": { "topics": ["com.example.app"], "teamID": "ABCDE12345", "keyID": "KEY1234567",
///               "keyFile": "AuthKey_KEY1234567.p8" } } } }
/// ```
public struct ServerConfiguration: Sendable, Hashable {
  /// The directory of the store. With a store in PostgreSQL, it contains only the assets.
  public var dataDirectory: String
  /// The time in seconds after which the server answers a poll of the web courier without a
  /// notification. The web courier is the long-polling protocol for clients without a push service.
  /// The time is short enough for the time limits of proxies. The server may answer up to one
  /// second later.
  public var courierPollTime = 30.0

  /// The address or host name to listen on. Only programs on this machine can reach the default.
  public var address = "127.0.0.1"
  /// The port to listen on; 0 lets the system choose a free port.
  public var port = 8080
  /// The URL at which clients reach the server, for example that of a proxy. Nil means the address
  /// and the port.
  public var publicURL: String?
  /// The address of the store's database; nil for a file in the data directory.
  public var postgreSQL: PostgreSQLAddress?
  /// The directory of the assets' bytes for a store in PostgreSQL; nil for `petrel-assets` in the
  /// data directory.
  public var assetDirectory: String?
  /// The time in seconds for which a stopping server still answers requests; 0–300.
  public var drainTime = 0.0
  /// The maximum difference in seconds between the date of a signed request and the server's clock;
  /// at most ``maximumSignatureWindow``.
  public var signatureWindow = 600.0
  /// The number of transactions that the server writes to PostgreSQL at the same time; 1–64.
  public var storeWriters = 4
  /// The size in MiB of the SQLite write-ahead log at which SQLite copies it into the database;
  /// 1–4,096.
  public var storeLogMegabytes = 78
  /// The time in days for which the store remembers deletions of records and zones; 1–36,500.
  public var deletionRetentionDays = 90
  /// The way in which the `production` environment gets its schema.
  public var productionSchema = ProductionSchema.fixed
  /// The settings of the containers, by identifier. If the dictionary is empty, the server serves
  /// every container, but without APNs. Otherwise it serves only these containers.
  public var containers: [String: Container] = [:]
  /// Whether a server without listed containers serves every container. Nil means that it does so
  /// if only this machine can reach the server.
  public var servesAnyContainer: Bool?
  /// The settings of the sign-in page.
  public var signIn = SignIn()
  /// The settings of the push channels for all containers. A container's own settings override
  /// them.
  public var channels = ChannelSettings()
  /// The limits for clients and memory.
  public var limits = Limits()
  /// The retention of the notification logs.
  public var notificationLog = NotificationLog()
  /// The retention of changes for explanations.
  public var explain = Explain()
  /// The lowest level of entries that the log contains.
  public var logLevel = ServerLog.Level.info
  /// The format of the log's lines.
  public var logFormat = ServerLog.Format.text
  /// The settings of the metrics page.
  public var metrics = Metrics()
  /// The settings of the admin API and the console.
  public var admin = Admin()

  /// Creates the default configuration for a data directory.
  public init(dataDirectory: String) {
    self.dataDirectory = dataDirectory
  }

  /// The way in which the `production` environment gets its record types and fields.
  public enum ProductionSchema: String, Sendable, CaseIterable {
    /// `petrel schema deploy` copies them from `development`. Records with unknown types or fields
    /// are refused.
    case fixed
    /// A record that is saved creates missing types and fields, as in `development`.
    case open
  }

  /// The upper limit of ``signatureWindow`` in seconds: one hour. After a signed request that
  /// changes something, the server remembers the signature until the request's date is older than
  /// this.
  package static let maximumSignatureWindow = 3600.0

  /// The path of the store's file; unused with a store in PostgreSQL.
  public var storePath: String { dataDirectory + "/petrel.sqlite" }

  /// The socket file through which commands on this machine reach the server.
  public var socketFile: SocketFile {
    let directory = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
    return SocketFile(path: directory + "/\(Self.socketName)")
  }

  package var channelSettings: PushChannelSettings {
    PushChannelSettings(server: channels, containers: containers.mapValues(\.channels))
  }

  /// The name of the socket file in a data directory.
  public static let socketName = "petrel.socket"

  /// The path of the assets' directory for a store in PostgreSQL.
  public var assetsPath: String { assetDirectory ?? dataDirectory + "/petrel-assets" }

  /// The location of the store: a file, or a PostgreSQL database with a directory for assets.
  public var storeLocation: StoreLocation {
    if let postgreSQL {
      .postgreSQL(postgreSQL, assets: assetsPath)
    } else {
      .file(path: storePath)
    }
  }
}

extension ServerConfiguration {
  /// The table of all settings: names, ranges, defaults and descriptions. The parser, the reference
  /// page, `petrel doctor` and the command's options use it.
  static let settings = SettingTable(
    ServerConfiguration(dataDirectory: ""),
    [
      .init(
        "address", \.address, .text, restart: true, option: "ADDRESS", "The address to listen on."),
      .init(
        "port", \.port, .whole(0...65_535), restart: true, option: "PORT",
        "The port to listen on, or 0 to let the system choose."),
      .init(
        "publicURL", \.publicURL, .webURL, restart: true, option: "URL",
        default: "address and port",
        "The URL that clients use, if it differs, for example behind a proxy."),
      .part(
        "store", .text, restart: true, option: "URL", default: "a file in the data directory",
        shown: { .string($0.postgreSQL?.description ?? $0.storePath) },
        "The [PostgreSQL](../guide/several-servers.md#on-postgresql) of the store, `postgres://USER@HOST/DATABASE`."
      ),
      .part(
        "storeFile", .file(.secret), restart: true,
        "A file with the URL, instead of `store`. It keeps a password out of `server.json`."),
      .init(
        "assetDirectory", \.assetDirectory, .folder, restart: true,
        default: "`petrel-assets` in the data directory",
        shown: { $0.postgreSQL == nil ? nil : .string($0.assetsPath) },
        "The folder for the bytes of assets if the store is in PostgreSQL."),
      .init(
        "storeWriters", \.storeWriters, .whole(1...64), restart: true,
        "The transactions that the server writes to PostgreSQL at the same time."),
      .init(
        "storeLogMegabytes", \.storeLogMegabytes, .whole(1...4_096), restart: true,
        "The length of a file's write-ahead log, in MiB, at which it is copied into the database."),
      .init(
        "deletionRetentionDays", \.deletionRetentionDays, .whole(1...36_500, .days), restart: true,
        clientLimit: "deletionRetentionDays",
        "The time for which the store keeps deletions of records and zones."),
      .init(
        "signatureWindowSeconds", \.signatureWindow,
        .whole(1...Int64(maximumSignatureWindow), .seconds), clientLimit: "signatureWindow",
        "The time by which the date of a signed request may differ from the server's."),
      .init(
        "productionSchema", \.productionSchema, .choice(ProductionSchema.self), restart: true,
        "How production gets record types and fields ([schemas](schema.md))."),
      .init(
        "drainSeconds", \.drainTime, .whole(0...300, .seconds),
        "The time for which a server that stops still answers."),
      .init(
        "logLevel", \.logLevel, .choice(ServerLog.Level.self), restart: true, option: "LEVEL",
        "The least severe level of the [log](#the-log)."),
      .init(
        "logFormat", \.logFormat, .choice(ServerLog.Format.self), restart: true, option: "FORMAT",
        "The format of the log."),
      .object(
        "metrics", \.metrics, Metrics.settings,
        "Who may read [`/metrics`](../operate/monitoring.md#metrics) besides programs on this machine."
      ),
      .object(
        "limits", \.limits, Limits.settings,
        "[Limits](#limits) of the server's users and of its memory."),
      .object(
        "notificationLog", \.notificationLog, NotificationLog.settings,
        "How much the server keeps of users' [notifications](notification-log.md)."),
      .object(
        "explain", \.explain, Explain.settings,
        "What the server keeps to [explain](explaining.md) why a push came or did not come."),
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
      .init(
        "anyContainer", \.servesAnyContainer, .boolean, restart: true,
        default: "`true` where only this machine can reach the server",
        shown: { .bool($0.servesAnyContainer ?? $0.isOnlyForThisMachine) },
        "Whether `petrel serve` starts without a list of containers, and serves every container."),
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
