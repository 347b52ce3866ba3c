import CommandInterface
import Configuration
import Foundation
import Settings

/// The check of the configuration, read in the same way as by `petrel serve`.
struct ConfigurationCheck: Sendable {
  let configuration: ServerConfiguration
  /// The file, variables and flags that the values come from.
  let sources: ConfigurationSources
  let mistakes: [ConfigurationError]

  /// Throws a `UsageError` for an option with an invalid value.
  init(_ arguments: Arguments) throws {
    (configuration, sources, mistakes) = try ConfigurationOptions.readWhatCan(arguments)
  }

  /// Returns a problem for each mistake, or one finding that says that the configuration is valid.
  /// The warnings of ``transport`` follow.
  func findings() -> [Finding] {
    let mistakes = mistakes + [configuration.openContainersMistake].compactMap(\.self)
    guard mistakes.isEmpty else {
      return mistakes.map {
        .problem(
          "\($0)", "correct it: a server does not start with it (docs/reference/configuration.md)")
      } + transport
    }
    let place = sources.file ?? "no file; defaults, variables and flags"
    return [.ok("the configuration is valid: \(place)")] + transport
  }

  /// Warnings about passwords, tokens and records that would cross a network without TLS, and about
  /// an open admin API.
  private var transport: [Finding] {
    var findings: [Finding] = []
    let address = configuration.address
    let isLocal = ServerConfiguration.isLoopback(address)
    if let url = configuration.publicURL, url.hasPrefix("http://"),
      let host = URLComponents(string: url)?.host, !ServerConfiguration.isLoopback(host)
    {
      findings.append(
        .warning(
          "publicURL \(url) has no TLS: others on the network can read tokens and records",
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
          "list the networks that may use them in admin.networks"))
    }
    return findings
  }
}
