// etcd serves a new store of one member at two loopback addresses, from the etcd that Kubernetes carries in vendor/. It
// takes a folder, where nothing outlives a crash, and the addresses for clients and for peers.
package main

import (
	"log"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	config := embed.NewConfig()
	config.Dir, config.UnsafeNoFsync, config.LogLevel = os.Args[1], true, "error"
	config.AutoCompactionRetention = "10m"
	config.ListenClientUrls, config.ListenPeerUrls = urls(os.Args[2]), urls(os.Args[3])
	config.AdvertiseClientUrls, config.AdvertisePeerUrls = config.ListenClientUrls, config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(<-server.Err())
}

func urls(address string) []url.URL {
	parsed, err := url.Parse(address)
	if err != nil {
		log.Fatal(err)
	}
	return []url.URL{*parsed}
}
