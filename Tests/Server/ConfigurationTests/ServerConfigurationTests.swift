import Cryptography
import Foundation
import JSONCoding
import OpenIDConnect
import PushChannels
import Settings
import Testing

@testable import Configuration

struct ServerConfigurationTests {
  @Test("every key is read, and file names are taken from the file's directory")
  func readsAll() throws {
    let configuration = try Self.read(
      """
      {"address": "0.0.0.0", "port": 9000, "publicURL": "https://cloud.example.com",
       "deletionRetentionDays": 30, "storeWriters": 9, "storeLogMegabytes": 7,
       "productionSchema": "open",
       "notificationLog": {"days": 7, "entries": 500},
       "signIn": {"passwords": false,
         "issuers": {"keycloak": {"issuer": "https://id.example.com/realms/a", "clientID": "c",
           "clientSecret": "s", "label": "Example", "scopes": ["email"]}}},
       "limits": {"privateDatabaseBytes": 5000000000, "clientAddressHeader": "X-Forwarded-For",
         "matchingIndexBytes": 250000000, "searchCacheBytes": 0,
         "proxies": ["10.0.0.0/24"], "connectionsPerAddress": 50, "connectionsPerNetwork": 99,
         "requestSeconds": 5,
         "requestRates": {"user": {"perSecond": 2.5}, "address": {"perSecond": 1, "burst": 5}}},
       "containers": {"iCloud.a": {"excludesOriginDevice": false,
         "apns": {"topics": ["a"], "teamID": "TEAM123456", "keyID": "KEY1234567",
                  "keyFile": "key.p8", "host": "localhost", "port": 2197,
                  "authorityFile": "/etc/ca.pem"}},
        "iCloud.b": {}, "iCloud.d": {"shares": {"appURL": "notes://share/{guid}"}},
        "iCloud.c": {"strings": {"folder": "app", "languages": ["de"]}}}}
      """)
    #expect(configuration.address == "0.0.0.0")
    #expect(configuration.port == 9000)
    #expect(configuration.deletionRetentionDays == 30)
    #expect(configuration.storeWriters == 9)
    #expect(configuration.storeLogMegabytes == 7)
    #expect(configuration.productionSchema == .open)
    #expect(configuration.notificationLog.days == 7)
    #expect(configuration.notificationLog.entries == 500)
    #expect(!configuration.signIn.acceptsPasswords)
    #expect(configuration.limits.privateDatabaseBytes == 5_000_000_000)
    #expect(configuration.limits.clientAddressHeader == "X-Forwarded-For")
    #expect(configuration.limits.matchingIndexBytes == 250_000_000)
    #expect(configuration.limits.searchCacheBytes == 0)
    #expect(configuration.limits.connectionsPerAddress == 50)
    #expect(configuration.limits.connectionsPerNetwork == 99)
    #expect(configuration.limits.requestSeconds == 5)
    #expect(configuration.limits.isProxy("10.0.0.7") && !configuration.limits.isProxy("127.0.0.1"))
    #expect(
      configuration.limits.requestRates == [
        .user: RequestRate(perSecond: 2.5, burst: 25),
        .address: RequestRate(perSecond: 1, burst: 5),
      ])
    #expect(
      configuration.signIn.issuers["keycloak"]
        == IssuerSettings(
          issuer: "https://id.example.com/realms/a", clientID: "c", credential: .secret("s"),
          label: "Example", scopes: ["email"]))
    #expect(configuration.publicURL == "https://cloud.example.com")
    #expect(
      configuration.containers["iCloud.d"]?.shares.appLink?.template == "notes://share/{guid}")
    #expect(configuration.containers["iCloud.b"] == ServerConfiguration.Container())
    let strings = try #require(configuration.containers["iCloud.c"]?.channels.strings)
    #expect(strings.folder.path.hasSuffix("/app") && strings.folder.path.hasPrefix("/"))
    #expect(strings.languages == ["de"])
    let container = try #require(configuration.containers["iCloud.a"])
    #expect(!container.excludesOriginDevice)
    let apns = try #require(container.channels.apns)
    #expect(apns.topics == ["a"])
    #expect(apns.host == "localhost")
    #expect(apns.port == 2197)
    guard case .key(let keyFile, "KEY1234567", "TEAM123456") = apns.credential else {
      Issue.record("\(apns.credential)")
      return
    }
    #expect(keyFile.hasPrefix("/") && keyFile.hasSuffix("/key.p8"))
    #expect(apns.authorityFile == "/etc/ca.pem")
  }

  @Test(
    "whose connections are a proxy's: this machine's, or all where a header field tells the client")
  func proxies() {
    var limits = ServerConfiguration.Limits()
    #expect(limits.isProxy("127.0.0.1") && limits.isProxy("::1") && !limits.isProxy("192.0.2.1"))
    limits.clientAddressHeader = "X-Forwarded-For"
    #expect(limits.isProxy("127.0.0.1") && limits.isProxy("192.0.2.1"))
    limits.proxies = []
    #expect(!limits.isProxy("127.0.0.1") && !limits.isProxy("192.0.2.1"))
  }

  @Test(
    "a mistake is answered with the key and the rule",
    arguments: [
      (
        #"{"prot": 1}"#,
        "unknown key 'prot'; did you mean 'port'? known are address, port, publicURL, store, st"
      ),
      (
        #"{"deletionRetentionDays": 0}"#,
        "'deletionRetentionDays' must be a whole number from 1 to 36500"
      ),
      (
        #"{"storeWriters": 0}"#, "'storeWriters' must be a whole number from 1 to 64"
      ),
      (#"{"productionSchema": "free"}"#, "'productionSchema' must be fixed or open, not 'free'"),
      (
        #"{"notificationLog": {"days": 366}}"#,
        "notificationLog: 'days' must be a whole number from 1 to 365"
      ),
      (
        #"{"notificationLog": {"entries": 99}}"#,
        "notificationLog: 'entries' must be a whole number from 100 to 1000000"
      ),
      (#"{"limits": {"quota": 1}}"#, "limits: unknown key 'quota'"),
      (
        #"{"limits": {"privateDatabaseBytes": 0}}"#,
        "'privateDatabaseBytes' must be a whole number from 1 to"
      ),
      (#"{"limits": {"requestRates": {"users": {}}}}"#, "known are user, serverKey, apiToken"),
      (
        #"{"limits": {"requestRates": {"user": {"perSecond": 0}}}}"#,
        "requestRates: user: 'perSecond' must be a number above 0, at most 1000000"
      ),
      (#"{"port": "x"}"#, "'port' must be a whole number from 0 to 65535"),
      (#"{"port": 70000}"#, "'port' must be a whole number from 0 to 65535"),
      (#"{"address": 1}"#, "'address' must be a string, not a number"),
      (#"{"containers": {"a": {}}}"#, "container 'a' must begin with 'iCloud.'"),
      (#"{"containers": {"iCloud.a": {"apns": {"teamID": "x"}}}}"#, "'topics' is missing"),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a\r\nx-evil: 1"], "certificateFile": "c"}}}}"#,
        #"'topics' must be a list of bundle IDs such as com.example.app, not "a\r\nx-evil: 1""#
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": "a", "certificateFile": "c"}}}}"#,
        "apns: 'topics' must be a list of bundle IDs such as com.example.app, not a string"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": [], "certificateFile": "c"}}}}"#,
        "apns: 'topics' must have at least one bundle ID"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a", "b", "a"], "certificateFile": "c"}}}}"#,
        "apns: 'topics' has 'a' twice"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "c", "topicCredentials": {"b": {"certificateFile": "b"}}}}}}"#,
        "apns: 'topicCredentials' has 'b', which is not one of 'topics'"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a", "b"], "topicCredentials": {"b": {"certificateFile": "b"}}}}}}"#,
        "apns: 'keyFile' is missing (or"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "c", "topicCredentials": {"a": {"keyFile": "k"}}}}}}"#,
        "apns: topicCredentials: a: 'keyID' is missing"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "c", "host": "h\nx"}}}}"#,
        #"'host' must be a host's name or address, not "h\nx""#
      ),
      (#"{"containers": {"iCloud.a": {"apns": {"topics": ["a"]}}}}"#, "'keyFile' is missing (or"),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "keyFile": "k", "keyID": "i"}}}}"#,
        "apns: 'teamID' is missing"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateKeyFile": "k"}}}}"#,
        "'certificateKeyFile' needs 'certificateFile' beside it"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "keyID": "i", "certificateFile": "c"}}}}"#,
        "'keyID' and 'certificateFile' exclude each other"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "c", "proxy": "socks5://p"}}}}"#,
        "'proxy': a proxy must be a URL such as http://proxy.example.com:3128: it must begin with http://"
      ),
      (
        #"{"containers": {"iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "c", "maximumConnections": 0}}}}"#,
        "'maximumConnections' must be a whole number from 1 to 100"
      ),
      (#"{"containers": {"iCloud.a": {"apns": 1}}}"#, "'apns' must be an object, not a number"),
      (#"{"containers": {"iCloud.a": {"excludesOriginDevice": "no"}}}"#, "must be true or false"),
      (
        #"{"containers": {"iCloud.a": {"shares": {"appURL": "javascript:alert(1)"}}}}"#,
        "containers: iCloud.a: shares: 'appURL' must be an https: URL, or a URL with a scheme of the app"
      ),
      (#"{"signIn": {"password": true}}"#, "signIn: unknown key 'password'"),
      (#"[]"#, "must be an object, not an array"),
      (#"{"#, "not valid JSON"),
      (
        "{\n\"port\": 80,\n}",
        "not valid JSON: the ',' before '}' is one too many around line 2, column 11"
      ),
      (
        #"{"metrics": {"allow": ["a",]}}"#, "the ',' before ']' is one too many around line 1"
      ),
    ])
  func namesMistakes(text: String, complaint: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try Self.read(text) }
    #expect(error?.description.contains(complaint) ?? false, "\(error?.description ?? "")")
  }

  @Test(
    "a public URL that clients cannot use is refused",
    arguments: [
      "cloud.example.com", "ftp://cloud.example.com", "https://", "https:///x", "/petrel", "",
      "https://cloud example.com", " https://cloud.example.com", "localhost:8080",
    ])
  func namesBadPublicURL(text: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      try Self.read(JSONValue.object(["publicURL": .string(text)]).text)
    }
    let rule =
      "must be a URL with https:// or http:// and a host, such as https://cloud.example.com"
    #expect(error?.description.contains("'publicURL' \(rule), not '\(text)'") == true)
  }

  @Test(
    "the error of a public URL has the rule that the host breaks",
    arguments: [
      ("https://anna:secret@cloud.example.com", "must be a URL without a user name and a password"),
      ("https://cloud.example.com?a=b", "must be a URL without a query and a fragment (? and #)"),
      ("https://cloud.example.com/?q", "must be a URL without a query and a fragment (? and #)"),
      ("https://cloud.example.com#a", "must be a URL without a query and a fragment (? and #)"),
      ("https://cloud.example.com:99999", "must be a URL with a port from 1 to 65535"),
      (
        "https://m\u{FC}ller.de",
        "must be in ASCII, with an international host name in its form xn--…"
      ),
      ("http://256.1.1.1", "must be a URL with the name or the address of a host"),
      ("https://x..com", "must be a URL with the name or the address of a host"),
      ("https://-x.com", "must be a URL with the name or the address of a host"),
      (
        "https://[::1",
        "must be a URL with https:// or http:// and a host, such as https://cloud.example.com"
      ),
      ("https://x.com/%zz", "must be a URL with two hexadecimal digits after each %"),
      ("https://x.com/%4", "must be a URL with two hexadecimal digits after each %"),
    ])
  func namesBrokenRule(text: String, rule: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      try Self.read(JSONValue.object(["publicURL": .string(text)]).text)
    }
    #expect(
      error?.description.contains("'publicURL' \(rule), not '\(text)'") == true, "\(error as Any)")
  }

  @Test(
    "a wrong value of a needed key is one mistake, not a missing key too",
    arguments: [#"[]"#, #""a.b""#, #"["a", "a"]"#, #"["a b"]"#])
  func oneMistake(topics: String) throws {
    let text = """
      {"containers": {"iCloud.a": {"apns": {"topics": \(topics), "certificateFile": "c"}}}, "port": -1}
      """
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).json").path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    var sources = try ConfigurationSources(fileAt: path)
    var configuration = ServerConfiguration(dataDirectory: "/data")
    let mistakes = sources.applyWhatCan(to: &configuration).map(\.description)
    #expect(
      mistakes.count == 2 && mistakes.count(where: { $0.contains("'topics'") }) == 1, "\(mistakes)")
  }

  @Test(
    "a public URL may have a port and a path",
    arguments: [
      "http://127.0.0.1:8080", "https://[::1]:8443", "https://xn--mller-kva.de/a%20b",
      "http://cloud_1.example.com.", "HTTPS://cloud.example.com/petrel/",
    ])
  func readsPublicURL(text: String) throws {
    let read = try Self.read(JSONValue.object(["publicURL": .string(text)]).text)
    #expect(read.publicURL == text)
  }

  @Test("a certificate takes the place of a key, and its private key may be in the same file")
  func readsCertificate() throws {
    let configuration = try Self.read(
      """
      {"containers": {
        "iCloud.a": {"apns": {"topics": ["a"], "certificateFile": "/a.pem", "maximumConnections": 7,
          "proxy": "http://anna:s%20t@proxy.example.com:3128"}},
        "iCloud.b": {"apns": {"topics": ["b"], "certificateFile": "/b.pem",
          "certificateKeyFile": "/b.key"}}}}
      """)
    let first = try #require(configuration.containers["iCloud.a"]?.channels.apns)
    #expect(first.credential == .certificate(file: "/a.pem", keyFile: "/a.pem"))
    #expect(first.maximumConnections == 7)
    #expect(first.proxy == "http://anna:s%20t@proxy.example.com:3128")
    #expect(
      configuration.containers["iCloud.b"]?.channels.apns?.credential
        == .certificate(file: "/b.pem", keyFile: "/b.key"))
  }

  @Test("each topic of a container has the container's key, or a key or certificate of its own")
  func readsTopics() throws {
    let configuration = try Self.read(
      """
      {"containers": {
        "iCloud.a": {"apns": {"topics": ["a", "a.mac", "a.watch"], "keyFile": "/a.p8",
          "keyID": "KEY1234567", "teamID": "TEAM123456",
          "topicCredentials": {"a.watch": {"certificateFile": "/w.pem"}}}},
        "iCloud.b": {"apns": {"topics": ["b"],
          "topicCredentials": {"b": {"certificateFile": "/b.pem", "certificateKeyFile": "/b.key"}}}}}}
      """)
    let apns = try #require(configuration.containers["iCloud.a"]?.channels.apns)
    let key = APNsSettings.Credential.key(file: "/a.p8", keyID: "KEY1234567", teamID: "TEAM123456")
    #expect(apns.topics == ["a", "a.mac", "a.watch"])
    #expect(apns.credential(of: "a") == key && apns.credential(of: "a.mac") == key)
    #expect(apns.credential(of: "a.watch") == .certificate(file: "/w.pem", keyFile: "/w.pem"))
    #expect(apns.topic(ofBundle: nil) == "a")
    #expect(apns.topic(ofBundle: "a.mac") == "a.mac")
    #expect(apns.topic(ofBundle: "a.tv") == nil)
    let own = try #require(configuration.containers["iCloud.b"]?.channels.apns)
    #expect(own.credential == nil)
    #expect(own.credential(of: "b") == .certificate(file: "/b.pem", keyFile: "/b.key"))
  }

  @Test("keys and certificates that cannot be used are told with container, file and rule")
  func namesCredentialMistakes() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = directory.path
    let authority = try CertificateAuthority(commonName: "Test")
    let identity = try authority.issueClientCertificate(commonName: "Apple Push Services: a")
    try identity.write(certificateFile: path + "/c.pem", privateKeyFile: path + "/k.pem")
    try authority.writePrivateKey(toFile: path + "/other.pem")
    try "nothing".write(toFile: path + "/text", atomically: true, encoding: .utf8)
    typealias Credential = APNsSettings.Credential
    let mistakes: [(Credential, String)] = [
      (
        .key(file: path + "/text", keyID: "k", teamID: "t"),
        "keyFile \(path)/text does not contain a usable"
      ),
      (
        .key(file: path + "/none", keyID: "k", teamID: "t"),
        "keyFile \(path)/none cannot be read: No"
      ),
      (
        .certificate(file: path + "/none", keyFile: path + "/k.pem"),
        "certificateFile \(path)/none cannot be read"
      ),
      (
        .certificate(file: path + "/c.pem", keyFile: path + "/none"),
        "certificateKeyFile \(path)/none cannot be read"
      ),
      (
        .certificate(file: path + "/c.pem", keyFile: path + "/other.pem"),
        "the client's key does not match its certificate"
      ),
      (
        .certificate(file: path + "/text", keyFile: path + "/k.pem"),
        "the client's certificate is not in PEM format"
      ),
    ]
    for (credential, complaint) in mistakes {
      let error = #expect(throws: ConfigurationError.self) {
        try APNsAuthentication(credential, at: ["containers", "iCloud.a", "apns"])
      }
      let description = error?.description ?? ""
      #expect(description.contains(complaint), "\(description)")
      #expect(description.hasPrefix("containers: iCloud.a: apns: "), "\(description)")
    }
    _ = try APNsAuthentication(
      .certificate(file: path + "/c.pem", keyFile: path + "/k.pem"), at: ["containers"])
  }

  @Test("an issuer with a key file is asked as Apple wants it")
  func readsApple() throws {
    let key = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).p8").path
    let pem = try ES256PrivateKey().pem
    try pem.write(toFile: key, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: key) }
    let configuration = try Self.read(
      """
      {"signIn": {"issuers": {"apple": {"issuer": "https://appleid.apple.com",
        "clientID": "com.example.web", "label": "Sign in with Apple", "teamID": "TEAM123456",
        "keyID": "KEY1234567", "keyFile": "\(key)"}}}}
      """)
    let apple = try #require(configuration.signIn.issuers["apple"])
    #expect(
      apple.credential == .signed(teamID: "TEAM123456", keyID: "KEY1234567", keyPEM: pem))
    #expect(apple.scopes == ["name", "email"])
    #expect(apple.responseMode == .formPost)
  }

  @Test(
    "a mistake in an issuer is answered with its place and the rule",
    arguments: [
      (#""issuer": "http://id.example.com", "clientID": "c", "label": "l""#, "https://"),
      (#""issuer": "https://a", "label": "l""#, "'clientID' is missing"),
      (#""issuer": "https://a", "clientID": "c""#, "'label' is missing"),
      (#""issuer": "https://a", "clientID": "c", "label": "l", "scopes": "a""#, "list of strings"),
      (
        #""issuer": "https://a", "clientID": "c", "label": "l", "responseMode": "fragment""#,
        "query or form_post"
      ),
      (
        #""issuer": "https://a", "clientID": "c", "label": "l", "keyFile": "/nowhere.p8""#,
        "'keyFile': /nowhere.p8 cannot be read: No such file"
      ),
      (
        #""issuer": "https://a", "clientID": "c", "label": "l", "clientSecret": "a", "keyFile": "b""#,
        "only one of"
      ),
    ])
  func namesIssuerMistakes(members: String, complaint: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      try Self.read(#"{"signIn": {"issuers": {"x": {\#(members)}}}}"#)
    }
    let description = error?.description ?? ""
    #expect(description.contains(complaint), "\(description)")
    #expect(description.contains("signIn: issuers: x"), "\(description)")
    #expect(throws: ConfigurationError.self) {
      try Self.read(#"{"signIn": {"issuers": {"Bad Name": {}}}}"#)
    }
  }

  @Test("a file that is not there is named")
  func namesMissingFile() {
    var configuration = ServerConfiguration(dataDirectory: "/nowhere")
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.apply(fileAt: "/nowhere/server.json")
    }
    #expect(
      error?.description
        == "configuration file /nowhere/server.json cannot be read: No such file or directory")
  }

  static func read(_ text: String) throws -> ServerConfiguration {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).json").path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    var configuration = ServerConfiguration(dataDirectory: "/data")
    try configuration.apply(fileAt: path)
    return configuration
  }
}
