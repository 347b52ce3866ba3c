import CommandInterface
import Configuration
import Foundation
import Settings

/// The configuration as `petrel serve` would read it.
struct ConfigurationCheck: Sendable {
  /// What is in force, as far as it can be.
  let configuration: ServerConfiguration
  let sources: ConfigurationSources
  let mistakes: [ConfigurationError]

  /// - Throws: ``UsageError`` for flags that cannot be.
  init(_ arguments: Arguments) throws {
    (configuration, sources, mistakes) = try ConfigurationOptions.readWhatCan(arguments)
  }

  func findings() -> [Finding] {
    guard mistakes.isEmpty else {
      return mistakes.map {
        .problem("\($0)", "correct it: a server does not start with it (docs/configuration.md)")
      } + transport
    }
    let place = sources.file ?? "no file; defaults, variables and flags"
    return [.ok("the configuration is good: \(place)")] + transport
  }

  /// Where passwords, tokens and records would go over a network without TLS.
  private var transport: [Finding] {
    var findings: [Finding] = []
    let address = configuration.address
    let isLocal = ServerConfiguration.isLoopback(address)
    if let url = configuration.publicURL, url.hasPrefix("http://"),
      let host = URLComponents(string: url)?.host, !ServerConfiguration.isLoopback(host)
    {
      findings.append(
        .warning(
          "publicURL \(url) has no TLS: tokens and records can be read on their way",
          "put a proxy with TLS in front (deploy/nginx.conf, deploy/Caddyfile) and name its "
            + "https:// URL"))
    } else if !isLocal, configuration.publicURL == nil {
      findings.append(
        .warning(
          "the server listens on \(address), where others reach it without TLS",
          "put a proxy with TLS in front and set publicURL, or listen on 127.0.0.1"))
    }
    if configuration.servesAdmin, !isLocal, configuration.admin.networks.isEmpty {
      findings.append(
        .warning(
          "the admin API and the console are open to every address",
          "name those that may use them in admin.networks"))
    }
    return findings
  }
}
