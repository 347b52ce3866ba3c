import CloudKitModel
import Foundation
import HTTPService
import SQLEngine
import Storage

/// How a server is set up.
public struct ServerConfiguration: Sendable, Hashable {
  /// The key or certificate and the place that the pushes of one container go through.
  public struct APNs: Sendable, Hashable {
    /// What shows APNs who sends.
    public enum Credential: Sendable, Hashable {
      /// The team's key, a `.p8` file, with which provider tokens are signed. Key ID and team ID
      /// have ten characters each.
      case key(file: String, keyID: String, teamID: String)
      /// The app's certificate and its private key, PEM files; they may be the same one.
      case certificate(file: String, keyFile: String)
    }

    /// `apns-topic`: the app's bundle ID.
    public var topic: String
    public var credential: Credential
    /// Where to send instead of to Apple's hosts, such as a local simulator.
    public var host: String?
    /// 443 without a value.
    public var port: Int?
    /// A file with the certificates to trust instead of the system's.
    public var authorityFile: String?
    /// The proxy to connect through, as a URL: `http://USER:PASSWORD@HOST:PORT`.
    public var proxy: String?
    /// How many connections may be open at a time to each of the two environments; more than one
    /// only while the others are full.
    public var maximumConnections = 4

    public init(
      topic: String, credential: Credential, host: String? = nil, port: Int? = nil,
      authorityFile: String? = nil
    ) {
      self.topic = topic
      self.credential = credential
      self.host = host
      self.port = port
      self.authorityFile = authorityFile
    }
  }

  public struct Container: Sendable, Hashable {
    /// Nil when no pushes leave the server for this container; the web courier works all the same.
    public var apns: APNs?
    /// Whether the device that made a change gets no push for it. Turn it off to test with a single
    /// device.
    public var excludesOriginDevice: Bool
    /// Whether a user's subscription that watches for the same as another of his is refused, as
    /// Apple's service was seen to do.
    public var refusesEqualSubscriptions: Bool
    /// Whether notifications of deletions carry the record type and the last values of the desired
    /// keys, which Apple's do not.
    public var deletionsCarryLastValues: Bool
    /// Nil when the server does not have the app's strings; messages to webhooks then have the keys
    /// of localised alerts alone.
    public var strings: Strings?

    public init(
      apns: APNs? = nil, excludesOriginDevice: Bool = true,
      refusesEqualSubscriptions: Bool = false, deletionsCarryLastValues: Bool = false,
      strings: Strings? = nil
    ) {
      self.apns = apns
      self.excludesOriginDevice = excludesOriginDevice
      self.refusesEqualSubscriptions = refusesEqualSubscriptions
      self.deletionsCarryLastValues = deletionsCarryLastValues
      self.strings = strings
    }
  }

  /// Where to listen.
  public var address = "127.0.0.1"
  /// 0 lets the system choose.
  public var port = 8080
  /// The URL that clients reach the server at, where it differs from the address and port, as
  /// behind a proxy. Web courier URLs begin with it.
  public var publicURL: String?
  /// The directory of the store; of its assets alone where it is in PostgreSQL.
  public var dataDirectory: String
  /// The PostgreSQL that has the store; nil for a file in the data directory.
  public var postgreSQL: PostgreSQLAddress?
  /// The folder of the assets of a store in PostgreSQL, which all servers on it share; nil for one in
  /// the data directory.
  public var assetDirectory: String?
  /// How long a poll of the web courier is held when nothing comes, in seconds: short enough for
  /// proxies. It ends up to a second later.
  public var courierPollTime = 30.0
  /// How long a server that is told to stop goes on after it said that it wants no new requests, in
  /// seconds: time for a proxy in front to hear it.
  public var drainTime = 0.0
  /// How far the date of a request that is signed with a server-to-server key may be from the
  /// server's, in seconds; at most ``maximumSignatureWindow``.
  public var signatureWindow = 600.0
  /// Transactions that are written to a store in PostgreSQL at the same time, each with a connection of
  /// its own; 1 to ``maximumStoreWriters``.
  public var storeWriters = 4
  /// How long the write-ahead log of a store in a file gets before it is copied into the database, in
  /// MiB; 1 to ``maximumStoreLogMegabytes``. Where that does not keep up, it gets four times as long, and
  /// then those who save wait.
  public var storeLogMegabytes = 78
  /// How long deletions of records and zones are remembered for change feeds, in days. A device that
  /// was away for longer starts anew.
  public var deletionRetentionDays = 90
  /// Whether `production` has a fixed schema, which `petrel schema deploy` alone extends. Otherwise
  /// record types and fields are made when they are first saved, as in `development`.
  public var hasFixedProduction = true
  /// By identifier. When empty every container is served, without APNs; otherwise only these.
  public var containers: [String: Container] = [:]
  /// How users sign in at the server's own page.
  public var signIn = SignIn()
  /// Nil when browsers may not register for Web Push.
  public var webPush: WebPush?
  /// Nil when programs may not register webhooks.
  public var webhooks: Webhooks?
  public var limits = Limits()
  public var notificationLog = NotificationLog()
  public var explain = Explain()
  /// What the log has, and how.
  public var logLevel = ServerLog.Level.info
  public var logFormat = ServerLog.Format.text
  /// Who may read `/metrics` besides programs on this machine.
  public var metrics = Metrics()
  /// What those who run the server may do over HTTP.
  public var admin = Admin()

  public init(dataDirectory: String) {
    self.dataDirectory = dataDirectory
  }

  /// An hour, in seconds. Signatures of requests that change something are remembered as long.
  static let maximumSignatureWindow = 3600.0

  /// The store's file in the data directory, unless it is in PostgreSQL.
  public var storePath: String { dataDirectory + "/petrel.sqlite" }

  /// Where the server listens for commands of this machine.
  public var socketFile: SocketFile {
    let directory = URL(fileURLWithPath: dataDirectory).standardizedFileURL.path
    return SocketFile(path: directory + "/\(Self.socketName)")
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
