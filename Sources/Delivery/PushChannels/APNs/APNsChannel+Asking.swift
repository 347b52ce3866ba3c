import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import Settings
import StoreModel

/// The check of `petrel doctor` that connects to APNs.
extension APNsChannel {
  /// The time limit for a connection and for an answer. It is shorter than the limit of the whole
  /// check, so that the finding gives the reason of a failure.
  private static let patience = Duration.seconds(4)

  /// A set of containers and environments that use the same host and settings.
  private struct Way: Sendable {
    /// The identifiers of the containers, in ascending order.
    var containers: [String]
    /// The APNs environments of the devices.
    var environments: [APNsEnvironment]
    /// The settings of the containers.
    var settings: APNsSettings

    /// The containers, as text for a finding.
    var name: String { containers.joined(separator: ", ") }
  }

  /// Sends one probe for each ``Way``, concurrently, and returns a finding for each: containers
  /// with equal settings share a probe, and each of Apple's two hosts gets its own.
  ///
  /// A credential file that is not usable gives no finding here: ``fileChecks(of:)`` reports it.
  ///
  /// - Parameter date: Receives the `Date` header field of an answer and the host with its port.
  ///   The doctor compares the clocks.
  package static func findings(
    askingWith configuration: Configuration,
    noting date: @escaping @Sendable (String?, String) -> Void
  ) async -> [Finding] {
    let loop: EventLoop
    do {
      loop = try EventLoop(name: "petrel-doctor")
    } catch {
      return [
        .problem(
          "the connection to APNs cannot be checked: \(error.reason)",
          "raise the limit of open files (ulimit -n)")
      ]
    }
    defer { loop.shutDown() }
    return await withTaskGroup(of: (Int, Finding?).self) { group in
      for (number, way) in ways(of: configuration).enumerated() {
        group.addTask { (number, await ask(way, loop, noting: date)) }
      }
      var findings: [(Int, Finding)] = []
      for await (number, finding) in group {
        if let finding { findings.append((number, finding)) }
      }
      return findings.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Returns the ways to probe.
  ///
  /// Containers with the same settings share a way. A configured host serves both environments and
  /// gives one way; Apple's hosts give one for each environment.
  private static func ways(of containers: Configuration) -> [Way] {
    let grouped = Dictionary(grouping: containers.keys.sorted()) { containers[$0] }
    return grouped.compactMap { settings, names in
      settings.map { (names, $0) }
    }
    .sorted { $0.0[0] < $1.0[0] }
    .flatMap { names, settings in
      settings.host == nil
        ? APNsEnvironment.allCases.map {
          Way(containers: names, environments: [$0], settings: settings)
        }
        : [Way(containers: names, environments: APNsEnvironment.allCases, settings: settings)]
    }
  }

  /// Sends a probe and returns the finding; `nil` if the credential's files are not usable.
  private static func ask(
    _ way: Way, _ loop: EventLoop, noting date: @Sendable (String?, String) -> Void
  ) async -> Finding? {
    // The check of the files reports what is wrong with them.
    guard
      var client = try? way.settings.client(
        to: way.environments.first ?? .production, container: way.containers.first ?? "")
    else { return nil }
    client.connectTimeout = patience
    client.answerTimeout = patience
    let place = "\(client.host):\(client.port)"
    let name =
      way.environments.count == 1 ? "\(way.name) (\(way.environments[0].rawValue))" : way.name
    do {
      let answer = try await APNsProbe.ask(
        client, topic: way.settings.topic, loop: loop, at: .now)
      date(answer.date, place)
      return judge(answer, of: name, at: place)
    } catch {
      let proxy = client.proxy.map { " through the proxy \($0)" } ?? ""
      return .problem(
        "\(name): \(place) cannot be reached\(proxy): \(error)",
        "check this machine's name server, firewall and proxy; APNs also listens on port 2197")
    }
  }

  /// Returns the finding for an answer.
  ///
  /// - Parameters:
  ///   - name: The containers, as text.
  ///   - place: The host with its port.
  static func judge(_ answer: APNsProbe, of name: String, at place: String) -> Finding {
    let said = "\(answer.status) \(answer.reason ?? "")".trimmingCharacters(in: .whitespaces)
    switch answer.verdict {
    case .accepted:
      return .ok("\(name): \(place) accepts pushes from this sender")
    case .refused(let advice):
      return .problem("\(name): \(place) refuses this sender: \(said)", advice)
    case .undecided:
      return .warning(
        "\(name): \(place) answers \(said), which does not show whether it accepts this sender",
        "run the check again later; see https://developer.apple.com/system-status/")
    }
  }
}
