package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// provisionerName is the provisioner in the storage class of up.sh.
const provisionerName = "agent-sandbox.dev/local"

// newStorageCommand returns the command of the node's storage: a volume is a directory below --root. It uses the controller
// library of storage drivers, so claims, volumes and events behave as on a real cluster. It enforces no size.
func newStorageCommand() *cobra.Command {
	var kubeconfig string
	var disk directories
	c := &cobra.Command{
		Use:   "local-storage",
		Short: "provisions directories as persistent volumes",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			controller.NewProvisionController(c.Context(), client, provisionerName, disk, controller.LeaderElection(false)).Run(c.Context())
			return nil
		},
	}
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the cluster")
	c.Flags().StringVar(&disk.root, "root", "", "the directory of all volumes")
	return c
}

// directories provides volumes on the disk of one node: each is a directory with the volume's name. They are volumes of
// type local, whose group the kubelet sets to a pod's fsGroup, as on a real local disk.
type directories struct{ root string }

func (d directories) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if o.SelectedNodeName == "" {
		return nil, controller.ProvisioningFinished, errors.New("the storage class must bind with WaitForFirstConsumer")
	}
	path := filepath.Join(d.root, o.PVName)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, controller.ProvisioningFinished, fmt.Errorf("making the volume's directory: %w", err)
	}
	mode := corev1.PersistentVolumeFilesystem
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			MountOptions:                  o.StorageClass.MountOptions,
			VolumeMode:                    &mode,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity:                  onNode(o.SelectedNodeName),
		},
	}, controller.ProvisioningFinished, nil
}

func (d directories) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	return os.RemoveAll(filepath.Join(d.root, volume.Name))
}

func onNode(name string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name},
		}},
	}}}}
}
