import Foundation
import OutboundHTTP

// A program that asks servers as the server asks webhooks and push services, for tests that give it a name
// server of its own:
//
//     OutboundProbe RANGES SECONDS URL…      gets each URL, from one client for all
//
// The ranges are those that are allowed, with commas between, the seconds the time to connect. For each URL it
// prints the status of the answer or the code of the error. A URL `-` ends the client and begins another, which
// knows no name yet.

let rules = AddressRules(
  allowed: CommandLine.arguments[1].split(separator: ",").compactMap { IPNetwork(String($0)) })
var configuration = HTTPClient.Configuration()
configuration.rules = rules
configuration.allowsHTTP = true
configuration.connectTime = Double(CommandLine.arguments[2]) ?? 10
var client = try HTTPClient(configuration)
for text in CommandLine.arguments.dropFirst(3) {
  if text == "-" {
    await client.close()
    client = try HTTPClient(configuration)
    continue
  }
  let url = try OutboundURL(text, allowsHTTP: true, rules: rules)
  do {
    let answer = try await client.send(OutboundRequest(.get, url: url, headers: []))
    print(answer.status)
  } catch {
    print(error.code)
  }
}
await client.close()
